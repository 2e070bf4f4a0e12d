"""Reports: sentences, figures, pages."""
