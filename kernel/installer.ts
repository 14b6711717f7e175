/** The service behind every installation: layer 3 and `agent plugin add` go through it, and through nothing else. */
import { defineService } from './service.ts';

export interface InstallRequest {
  /** The plugin whose own tree the packages go into. */
  readonly plugin: string;
  /** Package name to exact version or declared range; never a guessed name. */
  readonly packages: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export interface InstallResult {
  readonly installed: Readonly<Record<string, string>>;
  /** Puts the previous tree back. */
  undo(): Promise<void>;
}

export interface Installer {
  install(request: InstallRequest): Promise<InstallResult>;
}

export const installer = defineService<Installer>('kernel.installer');
