import type { MailParts } from '../../../domain/kernel/mail/mail.templates.ts';

/** Limits of Slack in characters: of a header, of a text, of a field; and of blocks in a message. */
const SLACK = { header: 150, text: 3_000, field: 2_000, blocks: 50 };
/** Blocks besides the items: the header, one that tells how many items are missing, the button and the footer. */
const AROUND = 4;
/** Bytes of a message of Teams, which may have 28 KB with what Teams adds. */
const TEAMS_BYTES = 24_000;
/** Characters of a text in Teams. */
const TEAMS_TEXT = 2_000;

const flat = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();

const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;

/** A text of Slack: the three characters that it interprets in text objects, `plain_text` too, are escaped, after which a text may be longer. */
function slackText(text: string, most: number): string {
  const escaped = (part: string) =>
    part.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  let shown = cut(flat(text), most);
  while (escaped(shown).length > most) shown = cut(shown, shown.length - 10);
  return escaped(shown) || ' ';
}

/** Texts of others are plain, so that nothing in them is formatted. */
const plain = (text: string, most: number) => ({
  type: 'plain_text',
  text: slackText(text, most),
  emoji: false,
});

/** A link of Slack, whose label ends at the first pipe. */
const slackLink = (url: string, label: string) => ({
  type: 'mrkdwn',
  text: `<${url.replace(/[<>|&]/g, (sign) => (sign === '&' ? '&amp;' : encodeURIComponent(sign)))}|${slackText(label, 500).replaceAll('|', '¦')}>`,
  verbatim: true,
});

/** The message as an incoming webhook of Slack takes it. */
export function slackMessage({
  heading,
  paragraphs = [],
  items = [],
  button,
  footer = [],
}: MailParts): object {
  const said = paragraphs.filter((one) => flat(one) !== '').slice(0, 10);
  const room = SLACK.blocks - AROUND - said.length;
  const shown = items.length > room ? items.slice(0, room) : items;
  const section = (text: object, fields?: object[]) => ({ type: 'section', text, ...(fields && { fields }) });
  const left = items.length - shown.length;
  return {
    // what notifications show in place of the blocks
    text: slackText(heading, SLACK.text),
    mrkdwn: false,
    blocks: [
      { type: 'header', text: plain(heading, SLACK.header) },
      ...said.map((text) => section(plain(text, SLACK.text))),
      ...shown.map(({ title, text, url }) =>
        section(url ? slackLink(url, title) : plain(title, SLACK.text), [plain(text, SLACK.field)]),
      ),
      ...(left > 0 ? [section(plain(`+ ${left}`, SLACK.text))] : []),
      ...(button ? [section(slackLink(button.url, button.label))] : []),
      ...(footer.length > 0 ? [{ type: 'context', elements: [plain(footer.join(' '), SLACK.field)] }] : []),
    ],
  };
}

/** A text of an Adaptive Card in which nothing is formatted, unlike in a `TextBlock`. */
const run = (text: string, more: object = {}) => ({
  type: 'RichTextBlock',
  inlines: [{ type: 'TextRun', text: cut(flat(text), TEAMS_TEXT) || ' ', ...more }],
});

/** The message as a webhook of Workflows in Teams takes it: an Adaptive Card. */
export function teamsMessage({
  heading,
  paragraphs = [],
  items = [],
  button,
  footer = [],
}: MailParts): object {
  const cardOf = (shown: number) => ({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            run(heading, { size: 'Large', weight: 'Bolder' }),
            ...paragraphs.filter((one) => flat(one) !== '').map((text) => run(text)),
            ...items.slice(0, shown).flatMap(({ title, text, url }) => [
              run(title, {
                weight: 'Bolder',
                ...(url ? { selectAction: { type: 'Action.OpenUrl', url } } : {}),
              }),
              { ...run(text), spacing: 'None' },
            ]),
            ...(items.length > shown ? [run(`+ ${items.length - shown}`)] : []),
            ...footer.map((text) => run(text, { isSubtle: true, size: 'Small' })),
          ],
          ...(button
            ? { actions: [{ type: 'Action.OpenUrl', title: flat(button.label), url: button.url }] }
            : {}),
          msteams: { width: 'Full' },
        },
      },
    ],
  });
  let shown = items.length;
  while (shown > 0 && Buffer.byteLength(JSON.stringify(cardOf(shown))) > TEAMS_BYTES) shown -= 1;
  return cardOf(shown);
}
