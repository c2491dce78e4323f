import type { AiSettings } from '../../../domain/analysis/ai/ai.provider.ts';
import { plainText } from './models.data.ts';
import type { ModelServices } from './models.types.ts';

/** A web page in the search results. */
export interface WebPage {
  /** The id in the request, such as `web-1`. */
  id: string;
  url: string;
  title: string;
  text: string;
}

const MOST_PAGES = 5;
const LONGEST_TEXT = 500;
const TIMEOUT_MS = 8_000;
const MAX_BYTES = 1024 * 1024;

type Found = Partial<Record<'url' | 'title' | 'text', unknown>>;

/** Path, query and result member of each provider. */
const providers: Record<string, { path: string; query: string; pagesIn(answer: unknown): Found[] }> = {
  searxng: {
    path: '/search',
    query: 'format=json',
    pagesIn: (answer) =>
      listIn(answer, 'results').map(({ url, title, content }) => ({ url, title, text: content })),
  },
  // instant answers: an article, and related topics
  duckduckgo: {
    path: '/',
    query: 'format=json&no_html=1&skip_disambig=1',
    pagesIn: (answer) => {
      const { AbstractURL: url, Heading: title, AbstractText: text } = answer as Record<string, unknown>;
      return [
        { url, title, text },
        ...listIn(answer, 'RelatedTopics').map(({ FirstURL, Text }) => ({
          url: FirstURL,
          title: Text,
          text: Text,
        })),
      ];
    },
  },
};

const listIn = (answer: unknown, member: string): Record<string, unknown>[] => {
  const list = (answer as Record<string, unknown>)[member];
  return Array.isArray(list) ? list.filter((one) => typeof one === 'object' && one !== null) : [];
};

/**
 * Searches the web for a name, if the settings configure a search provider.
 * @returns the pages; null if none is configured or the search fails.
 */
export async function searchWeb(
  { outbound, log }: Pick<ModelServices, 'outbound' | 'log'>,
  { search_provider, search_url }: AiSettings,
  name: string,
): Promise<WebPage[] | null> {
  const provider = providers[search_provider];
  if (!provider || search_url === '') return null;
  const { path, query, pagesIn } = provider;
  try {
    const address = `${search_url.replace(/\/+$/, '')}${path}?q=${encodeURIComponent(plainText(name))}&${query}`;
    const request = { headers: { accept: 'application/json' }, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES };
    const { status, body } = await outbound.request(address, request);
    if (status !== 200) throw new Error(`the search responds with ${status}`);
    const answer: unknown = JSON.parse(body.toString('utf8'));
    if (typeof answer !== 'object' || answer === null)
      throw new Error('the search response is not an object');
    return pagesIn(answer)
      .flatMap((page) => usable(page))
      .slice(0, MOST_PAGES)
      .map((page, at) => ({ id: `web-${at + 1}`, ...page }));
  } catch (error) {
    log.info({ cause: String(error).slice(0, 300) }, 'the web search failed');
    return null;
  }
}

function usable({ url, title, text }: Found): Omit<WebPage, 'id'>[] {
  if (typeof url !== 'string' || url.length > 2_000 || !/^https?:$/.test(protocolOf(url))) return [];
  if (typeof text !== 'string' || text.trim() === '') return [];
  const short = (value: unknown, longest: number) =>
    typeof value === 'string' ? plainText(value).replace(/\s+/g, ' ').trim().slice(0, longest) : '';
  return [{ url, title: short(title, 200) || url, text: short(text, LONGEST_TEXT) }];
}

function protocolOf(url: string): string {
  try {
    return new URL(url).protocol;
  } catch {
    return '';
  }
}
