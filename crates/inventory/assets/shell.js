/* The parts of the application shell that a script makes quicker. Every one of them works without it. */

import "./menus.js";
import "./toasts.js";
import "./forms.js";
import "./shortcuts.js";
