/** What the guardian runs. A shell, because a second Node would cost 40 MB for as long as a command runs. */

/** Ends in place of all that a full-screen program may have begun. What a terminal does not know, it ignores. */
const endings = [
  '[?2026l', // synchronised output
  '[?1000l', '[?1002l', '[?1003l', '[?1006l', '[?1004l', // reports of mouse and focus
  // Leaving the alternate screen moves the cursor to where it was saved: here, if that screen is not on.
  '7', '[?1049l',
  '[<u', '[>4;0m', // keyboard protocols
  '[?25h', // the cursor is seen
  '[0m',
].map((sequence) => String.raw`\033${sequence}`).join('');
const pasteEnding = String.raw`\033[?2004l`;

/** In seconds: from asking to killing. The terminal is given no longer, for one that was stopped (Ctrl-S) takes nothing. */
const grace = 2;

/**
 * Standard input says what is guarded, as the last complete line of each kind: `groups <leaders>` and `terminal <path>
 * <settings>`. Its end means that the agent is gone, however it went: the system closes the pipe even after
 * kill -9, when no handler of the agent runs.
 *
 * The terminal is opened in a subshell: the leader of a session would make it its own. A shell that is back at
 * its prompt has set the terminal for its line editor, which keeps signals where raw mode does not: that is left alone.
 */
export const guardianScript = `
groups= terminal=
while read -r kind rest; do
  case $kind in
    groups) groups=$rest ;;
    terminal) terminal=$rest ;;
  esac
done
[ -n "$groups$terminal" ] || exit 0
for group in $groups; do kill -s TERM -- "-$group"; done
[ -z "$terminal" ] || (
  exec <>"\${terminal% *}" >&0 || exit
  case " $(stty -a | tr '\\n;' '  ') " in
    *' isig -icanon '* | *' -icanon isig '*) ;;
    *) stty "\${terminal#* }"; printf '${pasteEnding}' ;;
  esac
  printf '${endings}'
) &
sleep ${grace}
for group in $groups; do kill -s KILL -- "-$group"; done
# Its own group, with whatever still waits for the terminal.
kill -s KILL 0
`;
