mkdir one 2>/dev/null && mine=one || { mkdir two 2>/dev/null && mine=two; } || { touch too-many; exit 1; }
sleep 0.05
rmdir "$mine"
