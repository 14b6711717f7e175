/** The tour: the main job on embedded defaults, without a key and without a network. */
import { command, definePlugin } from 'newt-agent';
import { manifest } from './manifest.ts';
import { tourProvider } from './scripted-model.ts';
import { runTour } from './tour.ts';

export default definePlugin(manifest, () => ({
  providers: { tour: tourProvider },
  commands: {
    tour: command({
      description: 'See what it does: plugins, containment and one coding task, on a temporary workspace',
      options: [{ flags: '--keep', description: 'keep the temporary workspace, and say where it is' }],
      examples: ['agent tour', 'agent tour --keep'],
      run: ({ options }, { io, signal }) => runTour(io, options['keep'] === true, signal),
    }),
  },
}));
