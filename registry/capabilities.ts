/** Capabilities, in words for the person who is asked to agree. */

const meanings: Readonly<Record<string, (detail: string) => string>> = {
  exec: () => 'run programs',
  net: () => 'use the network',
  'fs:write': () => 'write files',
  env: (name) => `read the variable ${name}`,
  gate: (hook) => `allow or deny at ${hook}`,
};

/** `exec (run programs), net (use the network)`. */
export function describeCapabilities(capabilities: readonly string[]): string {
  return capabilities.length === 0 ? 'none' : capabilities.map(describe).join(', ');
}

function describe(capability: string): string {
  const [kind = '', detail = ''] = capability.split(/:(.*)/s, 2);
  const meaning = (meanings[capability] ?? meanings[kind])?.(detail);
  return meaning === undefined ? capability : `${capability} (${meaning})`;
}
