/** What the tour's model says, step by step: a step follows from what the tools answered before. */
export interface Step {
  readonly text: string;
  readonly calls?: readonly { readonly name: string; readonly input: unknown }[];
}

const program = `def fibonacci(count):
    """Return the first \`count\` Fibonacci numbers."""
    numbers = []
    a, b = 0, 1
    for _ in range(count):
        numbers.append(a)
        a, b = b, a + b
    return numbers


if __name__ == "__main__":
    print(" ".join(str(number) for number in fibonacci(15)))
`;

/** @param observations the texts of all tool results so far */
export function script(model: string, observations: readonly string[]): Step {
  return model === 'containment' ? containment(observations) : fibonacci(observations);
}

function fibonacci(observations: readonly string[]): Step {
  const last = observations.at(-1) ?? '';
  switch (observations.length) {
    case 0:
      return { text: 'I look at the workspace first. ', calls: [{ name: 'list_directory', input: { path: '.' } }] };
    case 1:
      return { text: 'Nothing there does this yet, so I write the script. ', calls: [{ name: 'write_file', input: { path: 'fibonacci.py', content: program } }] };
    case 2:
      return { text: 'Now I run it. ', calls: [{ name: 'run_command', input: { command: 'python3 fibonacci.py || python fibonacci.py' } }] };
    default:
      if (/\b0 1 1 2 3 5 8 13\b/.test(last)) return { text: 'fibonacci.py prints the first 15 Fibonacci numbers. I ran it, and the output is right.' };
      return /not found|not recognized|No such file/i.test(last)
        ? { text: 'I wrote fibonacci.py, but could not run it: Python is missing on this machine. Install Python 3, then run: python3 fibonacci.py' }
        : { text: `I wrote fibonacci.py, but running it did not give the numbers: ${last.slice(0, 200)}` };
  }
}

/** Calls the broken plugins' tools one by one, and a good one at the end. */
function containment(observations: readonly string[]): Step {
  switch (observations.length) {
    case 0:
      return {
        text: 'I call a tool that fails, one that never answers, and one that works. ',
        calls: [
          { name: 'use_tool', input: { name: 'reads_undefined', args: {} } },
          { name: 'use_tool', input: { name: 'never_answers', args: {} } },
          { name: 'use_tool', input: { name: 'greet', args: { name: 'Ada' } } },
        ],
      };
    default:
      return { text: `The broken tools failed and told me why. The good one answered: ${observations.at(-1)?.split('\n')[0] ?? ''}` };
  }
}
