/** Finding files by name and by content. */
import { definePlugin } from 'newt-agent';
import { glob } from './glob.ts';
import { grep } from './grep.ts';
import { manifest } from './manifest.ts';

export default definePlugin(manifest, (p) => ({ tools: { grep: grep(() => p.env('PATH')), glob } }));
