/** Service refs: a typed key under which one plugin provides an implementation and others use it. */
export interface ServiceRef<Service> {
  readonly key: string;
  /** Phantom member that carries the type. */
  readonly type?: Service;
}

export function defineService<Service>(key: string): ServiceRef<Service> {
  return { key };
}
