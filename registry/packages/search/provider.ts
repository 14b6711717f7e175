/** What every provider of search results is given, and what it answers. */

export type Recency = 'day' | 'week' | 'month' | 'year';

export interface SearchRequest {
  readonly query: string;
  readonly max: number;
  readonly recency?: Recency | undefined;
  /** Name of a host; its subdomains count too. */
  readonly site?: string | undefined;
}

/** As the service gave it: not yet cleaned, and perhaps no address at all. */
export interface RawResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  readonly date?: string | undefined;
}

export interface HttpRequest {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

export interface Provider {
  readonly name: string;
  /** What is asked of the service. */
  request(search: SearchRequest): HttpRequest;
  /** @throws OperationalError for an answer that is none, with what to do */
  results(answer: HttpAnswer, search: SearchRequest): readonly RawResult[];
  /** Never shown, wherever the service repeats it. */
  readonly key?: string;
  /** What to do when the service refuses: about the key, or the address. */
  readonly refusedHint: string;
  /** Said with the results, such as what the service could not do. */
  note?(search: SearchRequest): string | undefined;
}

export interface ProviderOptions {
  /** Without a slash at its end. */
  readonly base: string;
  readonly key?: string;
}

/** `query` with the operator that most engines know. */
export function withSite({ query, site }: SearchRequest): string {
  return site === undefined ? query : `${query} site:${site}`;
}
