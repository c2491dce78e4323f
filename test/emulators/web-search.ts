import { serveResponses } from './http.ts';

export interface WebSearchEmulator {
  url: string;
  /** What was searched for. */
  asked: string[];
  pages: { url: string; title: string; text: string }[];
  /** Answered instead, while set. */
  fault: { status: number; body: string } | undefined;
  close(): Promise<void>;
}

/** Two ways of searching: SearXNG's at `/search`, and the instant answers of DuckDuckGo at `/`. */
export async function startWebSearch(): Promise<WebSearchEmulator> {
  const { origin, close } = await serveResponses(({ url: { pathname, searchParams } }) => {
    const query = searchParams.get('q')!;
    emulator.asked.push(query);
    const { fault, pages } = emulator;
    if (fault) return fault;
    if (searchParams.get('format') !== 'json') return { status: 403, body: {} };
    if (pathname === '/search') {
      const results = pages.map(({ url, title, text }) => ({ url, title, content: text }));
      return { status: 200, body: { query, results } };
    }
    const [first, ...others] = pages;
    return {
      status: 200,
      body: {
        Heading: first?.title ?? '',
        AbstractText: first?.text ?? '',
        AbstractURL: first?.url ?? '',
        RelatedTopics: others.map(({ url, text }) => ({ FirstURL: url, Text: text })),
      },
    };
  });
  const emulator: WebSearchEmulator = { url: origin, asked: [], pages: [], fault: undefined, close };
  return emulator;
}
