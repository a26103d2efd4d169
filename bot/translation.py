"""The messages of the application in the language of the reply, from the catalogues of this room."""

from pathlib import Path

from agent.translation.languages import get_reply_language as get_reply_language
from agent.translation.languages import use_language as use_language
from agent.translation.message_catalogues import MessageTranslator

_TRANSLATOR = MessageTranslator(Path(__file__).parent / "catalogues")
translate_message = _TRANSLATOR.translate_message
translate_plural = _TRANSLATOR.translate_plural
