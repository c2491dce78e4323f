import { serveOnLoopback } from '../support/loopback.ts';

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
  const { server, origin, close } = await serveOnLoopback((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://emulator');
    emulator.asked.push(searchParams.get('q')!);
    const { fault, pages } = emulator;
    const reply = (status: number, body: string) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    if (fault) return reply(fault.status, fault.body);
    if (searchParams.get('format') !== 'json') return reply(403, '{}');
    if (pathname === '/search') {
      const results = pages.map(({ url, title, text }) => ({ url, title, content: text }));
      return reply(200, JSON.stringify({ query: searchParams.get('q'), results }));
    }
    const [first, ...others] = pages;
    return reply(
      200,
      JSON.stringify({
        Heading: first?.title ?? '',
        AbstractText: first?.text ?? '',
        AbstractURL: first?.url ?? '',
        RelatedTopics: others.map(({ url, text }) => ({ FirstURL: url, Text: text })),
      }),
    );
  });
  server.unref();
  const emulator: WebSearchEmulator = { url: origin, asked: [], pages: [], fault: undefined, close };
  return emulator;
}
