touch worked
