// The bundle's entry. One file, because htmx 4 starts itself from a timer: an extension that
// arrives in a second deferred script registers too late.
import "htmx.org";
import "htmx.org/dist/ext/hx-sse.js";
