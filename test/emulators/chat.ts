import { type Reaction, type Response, serveResponses } from './http.ts';

/** A message as it was taken. */
interface Taken {
  service: 'slack' | 'teams';
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of many shapes
  body: any;
}

/** What happens to the next messages instead: an answer with its text, no answer, or a lost connection. */
type Fault = { status: number; text?: string; retryAfter?: number } | 'hang' | 'reset';

export interface TestChat {
  /** The addresses of the webhooks. */
  slack: string;
  teams: string;
  taken: Taken[];
  /** Called for each message that is well-formed. */
  fault: () => Fault | undefined;
  close(): Promise<void>;
}

const text = (status: number, body: string): Response => ({
  status,
  headers: { 'content-type': 'text/plain' },
  body,
});

interface SlackText {
  type?: string;
  text?: string;
}

/** Why Slack refuses a block, by the limits of its reference of blocks. */
function isBlock(block: {
  type?: string;
  text?: SlackText;
  fields?: SlackText[];
  elements?: SlackText[];
}): boolean {
  const fits = (one: SlackText | undefined, most: number) =>
    one !== undefined &&
    (one.type === 'plain_text' || one.type === 'mrkdwn') &&
    typeof one.text === 'string' &&
    one.text.length >= 1 &&
    one.text.length <= most;
  if (block.type === 'header') return block.text?.type === 'plain_text' && fits(block.text, 150);
  if (block.type === 'context')
    return block.elements!.length <= 10 && block.elements!.every((one) => fits(one, 3_000));
  const fields = block.fields ?? [];
  return (
    block.type === 'section' &&
    fits(block.text, 3_000) &&
    fields.length <= 10 &&
    fields.every((one) => fits(one, 2_000))
  );
}

/** An incoming webhook: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks */
function ofSlack(body: string): Response | object {
  let message: { text?: string; blocks?: object[] };
  try {
    message = JSON.parse(body);
  } catch {
    return text(400, 'invalid_payload');
  }
  if (!message.text && !message.blocks) return text(400, 'no_text');
  if ((message.blocks ?? []).length > 50 || !(message.blocks ?? []).every(isBlock))
    return text(400, 'invalid_blocks');
  return message;
}

/** A webhook of Workflows, with the limit of messages in Teams of 28 KB. */
function ofTeams(body: string): Response | object {
  if (Buffer.byteLength(body) > 28 * 1024)
    return { status: 413, body: { error: { code: 'RequestEntityTooLarge' } } };
  const message = JSON.parse(body);
  const [card] = message.attachments ?? [];
  const isCard =
    message.type === 'message' &&
    card?.contentType === 'application/vnd.microsoft.card.adaptive' &&
    card.content?.type === 'AdaptiveCard' &&
    Array.isArray(card.content.body);
  return isCard ? message : { status: 400, body: { error: { code: 'InvalidRequestContent' } } };
}

/** The webhooks of Slack and of Workflows in Microsoft Teams, as their documentation describes them. */
export async function startChat(): Promise<TestChat> {
  const taken: Taken[] = [];
  const { origin, close } = await serveResponses(({ method, url, headers, body }): Reaction => {
    const service = url.pathname === '/services/T0/B0/secret' ? 'slack' : 'teams';
    if (service === 'teams' && url.pathname !== '/workflows/w0/triggers/manual/paths/invoke')
      return text(404, 'no_service');
    if (service === 'teams' && url.searchParams.get('sig') !== 'secret')
      return { status: 401, body: { error: { code: 'DirectApiAuthorizationRequired' } } };
    if (method !== 'POST' || !headers['content-type']?.startsWith('application/json'))
      return text(400, 'invalid_payload');
    const message = service === 'slack' ? ofSlack(body) : ofTeams(body);
    if ('status' in message) return message as Response;
    const fault = chat.fault();
    if (fault === 'hang' || fault === 'reset') {
      taken.push({ service, body: message });
      return fault;
    }
    if (fault) {
      const { status, text: said = '', retryAfter } = fault;
      return {
        ...text(status, said),
        headers: retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
      };
    }
    taken.push({ service, body: message });
    return service === 'slack' ? text(200, 'ok') : { status: 202 };
  });
  const chat: TestChat = {
    slack: `${origin}/services/T0/B0/secret`,
    teams: `${origin}/workflows/w0/triggers/manual/paths/invoke?api-version=2016-06-01&sig=secret`,
    taken,
    fault: () => undefined,
    close,
  };
  return chat;
}
