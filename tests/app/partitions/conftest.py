from undrawn import undrawn as undrawn
