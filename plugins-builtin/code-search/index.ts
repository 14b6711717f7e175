/** Finding files by name and by content. */
import { definePlugin } from 'newt-agent';
import { glob } from './glob.ts';
import { grep } from './grep.ts';
import { limiter } from './limiter.ts';
import { manifest } from './manifest.ts';
import { searchCheck } from './search-check.ts';
import { mostThreads } from './thread-search.ts';

export default definePlugin(manifest, (p) => ({ tools: { grep: grep(() => p.env('PATH'), limiter(mostThreads)), glob }, checks: { search: searchCheck(p) } }));
