/* The parts of the application shell that a script makes quicker. Every one of them works without it. */

import "./dialogs.js";
import "./forms.js";
import "./lists.js";
import "./menus.js";
import "./passwords.js";
import "./picker.js";
import "./search.js";
import "./shortcuts.js";
import "./tables.js";
import "./toasts.js";
