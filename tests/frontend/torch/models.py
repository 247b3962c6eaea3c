"""The list of models, fixed: those written for it, and those of `transformers`."""

from __future__ import annotations

from tests.frontend.torch.case import Case
from tests.frontend.torch.transformers_images import IMAGES_AND_SOUND
from tests.frontend.torch.transformers_language import LANGUAGE
from tests.frontend.torch.written_images import IMAGES
from tests.frontend.torch.written_programs import PROGRAMS
from tests.frontend.torch.written_sequences import SEQUENCES

WRITTEN: tuple[Case, ...] = (*IMAGES, *SEQUENCES, *PROGRAMS)
TRANSFORMERS: tuple[Case, ...] = (*LANGUAGE, *IMAGES_AND_SOUND)
MODELS: tuple[Case, ...] = (*WRITTEN, *TRANSFORMERS)
