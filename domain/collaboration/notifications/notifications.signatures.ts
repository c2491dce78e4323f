import type { FeedRow } from '../../kernel/events/feed.read.ts';
import type { AppPermission } from '../../kernel/permissions/permissions.data.ts';
import { excerpt, type Facts, listOf, type NotificationRule, newValue } from './notifications.rule.ts';

/** A kind of documents with signatures, and its terms in texts. */
interface Signed {
  key: 'adr' | 'soaw';
  permission: AppPermission;
  /** The page under which one is shown. */
  page: string;
  one: string;
  many: string;
}

const kinds: Signed[] = [
  { key: 'adr', permission: 'adr.view', page: '/adr', one: 'decision', many: 'decisions' },
  { key: 'soaw', permission: 'soaw.view', page: '/soaw', one: 'statement', many: 'statements' },
];

const nameOf = ({ event }: Facts): string =>
  excerpt([event.data.reference_number, event.data.title ?? event.data.name].filter(Boolean).join(' '));

const said = ({ actor, event }: Facts): string => {
  const words = excerpt(event.data.message ?? '');
  return words ? `${actor}: ${words}` : `${actor} asks you to sign it.`;
};

/** Whether the recipients of the event are signatories after it. */
function isAsked(event: FeedRow): boolean {
  const now = listOf(newValue(event, 'signatories')) as { user_id: string }[];
  return listOf(event.data.recipients).every((id) => now.some(({ user_id }) => user_id === id));
}

const leadsTo =
  (status: string) =>
  (event: FeedRow): boolean =>
    newValue(event, 'status') === status;

function rulesOf({ key, permission, page, one, many }: Signed): Record<string, NotificationRule[]> {
  const base = {
    to: (event: { data: Record<string, unknown> }) => listOf(event.data.recipients),
    permission,
    link: ({ event }: Facts) => `${page}/${String(event.data.id)}`,
  };
  const requested: NotificationRule = {
    ...base,
    type: `${key}_sign_requested`,
    title: (facts) => `You are asked to sign ${nameOf(facts)}`,
    message: said,
    many: (count) => `You are asked to sign ${count} ${many}`,
  };
  const recalled: NotificationRule = {
    ...base,
    type: `${key}_sign_recalled`,
    title: (facts) => `You need not sign ${nameOf(facts)} any more`,
    message: ({ actor }) => `${actor} has taken the request back.`,
    many: (count) => `${count} requests to sign were taken back`,
  };
  // undone events notify nobody: they lead to another status, or to other signatories
  return {
    [`${key}.signatures_requested`]: [{ ...requested, when: leadsTo('in_review') }],
    [`${key}.signatory_replaced`]: [
      { ...requested, when: isAsked },
      {
        ...recalled,
        to: (event) => listOf(event.data.replaced),
        when: isAsked,
        message: ({ actor }) => `${actor} has asked somebody else.`,
      },
    ],
    [`${key}.signed`]: [
      {
        ...base,
        type: `${key}_signed`,
        when: leadsTo('signed'),
        title: (facts) => `${nameOf(facts)} was signed`,
        message: () => `Everybody who was asked has signed the ${one}.`,
        many: (count) => `${count} ${many} were signed`,
      },
    ],
    [`${key}.signatures_recalled`]: [{ ...recalled, when: leadsTo('draft') }],
    [`${key}.rejected`]: [
      {
        ...base,
        type: `${key}_rejected`,
        when: leadsTo('draft'),
        title: (facts) => `${nameOf(facts)} was rejected`,
        message: ({ actor, event }) => `${actor}: ${excerpt(event.data.comment)}`,
        many: (count) => `${count} ${many} were rejected`,
      },
    ],
  };
}

/** The rules of the signing process. */
export const signatureRules: Record<string, NotificationRule[]> = Object.assign({}, ...kinds.map(rulesOf));
