/** The built-in plugin `doctor`: asks every plugin how what it owns is doing, and looks at the machine itself. */
import { resolve } from 'node:path';
import { command, configControl, definePlugin, kernelControl } from 'newt-agent';
import { examine } from './examine.ts';
import { diskCheck, foldersCheck } from './folder-checks.ts';
import { programsCheck } from './machine-checks.ts';
import { manifest } from './manifest.ts';
import { needsPerson, printReport } from './report.ts';
import { secretMask } from './secrets.ts';

export default definePlugin(manifest, (p) => ({
  checks: {
    machine: programsCheck(p),
    folders: foldersCheck(() => p.use(kernelControl).paths),
    disk: diskCheck(() => p.use(kernelControl).paths.state),
  },
  commands: {
    doctor: command({
      description: 'Check this machine, the configuration, the model and the plugins, and say what to do',
      options: [{ flags: '--json', description: 'Print JSON' }],
      examples: ['agent doctor', "agent doctor --json | jq '.findings[] | select(.level == \"error\")'"],
      async run({ options }, { io, signal }) {
        await p.activate('checks');
      // A plugin that has not been loaded yet has not shown whether it can be.
      await p.activate('onInspect');
        const report = await examine(p.items('checks'), { cwd: resolve(typeof options['cwd'] === 'string' ? options['cwd'] : '.') }, {
          signal,
          mask: secretMask(p.use(configControl).config, process.env),
          onWait: (text) => io.progress?.(text),
        });
        io.progress?.(undefined);
        if (options['json']) io.json({ ok: !needsPerson(report), findings: report });
        else printReport(report, io);
        return needsPerson(report) ? 1 : 0;
      },
    }),
  },
}));
