import pytest

from support.models import small_translator


@pytest.fixture(scope="session")
def translator():
    return small_translator()
