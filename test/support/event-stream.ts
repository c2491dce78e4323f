import http from 'node:http';

/** Opens an event stream; `onEvent` is called with the id and the type of each event. */
export function openEventStream(
  url: string,
  headers: Record<string, string>,
  onEvent: (id: string, type: string) => void,
): http.ClientRequest {
  return http.get(url, { headers, agent: false }, (response) => {
    if (response.statusCode !== 200) {
      response.destroy(new Error(`the stream answered ${response.statusCode}`));
      return;
    }
    let rest = '';
    response.setEncoding('utf8').on('data', (text: string) => {
      const blocks = (rest + text).split('\n\n');
      rest = blocks.pop()!;
      for (const block of blocks) {
        const [, id, type] = /^id: (\d+)\nevent: (\S+)/.exec(block) ?? [];
        if (id !== undefined) onEvent(id, type!);
      }
    });
    // a stream that ends early is closed as well
    response.on('error', () => undefined);
  });
}
