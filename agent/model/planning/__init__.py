"""From a plan of the model to searches: `question_planner` is the stage."""
