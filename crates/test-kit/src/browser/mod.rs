//! A headless Chromium driven through WebDriver, for tests of what a person sees and does.
