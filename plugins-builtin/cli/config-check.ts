/** What `agent doctor` learns of the configuration. */
import { existsSync } from 'node:fs';
import { type Check, configControl, type ConfigControl, type Finding, isKernelError, type PluginContext, shortPath, type TrustControl, trustControl } from 'newt-agent';

type Note = ConfigControl['config']['ignored'][number];

export function configCheck(p: Pick<PluginContext, 'use'>): Check {
  return {
    description: 'the configuration',
    run: async () => configFindings(p.use(configControl), isTrusted(p.use(trustControl))),
  };
}

async function configFindings(control: ConfigControl, trusted: boolean): Promise<Finding[]> {
  const { config, problems } = await control.inspect();
  // A file nobody trusts keeps nobody from working: it is left out.
  const wrong = problems.map((problem): Finding => {
    const isForeign = !trusted && problem.file !== undefined && problem.file === control.projectFile;
    return { level: isForeign ? 'warn' : 'error', what: 'config', detail: problem.error.message.replace(/ \(and \d+ more problems?\)$/, ''), fix: fixOf(problem, control) };
  });
  const ignored = config.ignored.map((note): Finding => ({ level: 'warn', what: 'config', detail: `${placeOf(note)}${note.key} is ignored: ${note.why}`, ...(note.file !== undefined && { fix: `agent config explain ${note.key}` }) }));
  if (wrong.length + ignored.length > 0) return [...wrong, ...ignored];
  const files = [control.projectFile, control.globalFile].filter((file) => file !== undefined && existsSync(file));
  return [{ level: 'ok', what: 'config', detail: files.length === 0 ? 'no file: the defaults count' : `${files.map((file) => shortPath(String(file))).join(', ')} ${files.length === 1 ? 'is' : 'are'} right` }];
}

function fixOf({ key, file, variable }: Note, { projectFile }: ConfigControl): string {
  if (variable !== undefined) return `unset ${variable}`;
  if (key === '' || file === undefined) return `correct ${file === undefined ? 'it' : shortPath(file)} by hand`;
  return `agent config unset ${key}${file === projectFile ? ' --project' : ''}`;
}

function isTrusted({ trust, folder }: TrustControl): boolean {
  try {
    return folder === undefined || ['trusted', 'nothing-to-trust'].includes(trust.status(folder).status);
  } catch (error) {
    if (isKernelError(error)) return false; // The check of trust tells why.
    throw error;
  }
}

function placeOf({ file, line }: Note): string {
  return file === undefined ? '' : `${shortPath(file)}${line === undefined ? '' : `:${line}`}: `;
}
