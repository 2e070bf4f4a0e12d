"""Pages for people: what the bandits of a service do, as HTML that needs no other server."""

from matroid_bandits.service.dashboard.pages import api_page, bandit_page, error_page, list_page

__all__ = ["api_page", "bandit_page", "error_page", "list_page"]
