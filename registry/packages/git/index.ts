/** The plugin `git`: git repositories as tools. */
import { definePlugin } from 'newt-agent';

export default definePlugin({ id: 'git', capabilities: ['exec'] }, () => ({}));
