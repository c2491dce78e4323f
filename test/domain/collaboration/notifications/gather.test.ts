import {
  collectReferences,
  deriveNotifications,
  type People,
  type Person,
} from '../../../../domain/collaboration/notifications/notifications.gather.ts';
import { allPreferences } from '../../../../domain/collaboration/notifications/notifications.types.ts';
import type { FeedRow } from '../../../../domain/kernel/events/feed.read.ts';
import { seededMetamodel } from '../../inventory/cards/seeded-metamodel.ts';

const id = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
const ANN = id(1);
const BOB = id(2);
const EVE = id(3);
const CARD = id(100);

const person = (who: string, more: Partial<Person> = {}): Person => ({
  id: who,
  locale: 'en',
  permissions: new Set(['inventory.view', 'comments.view']),
  preferences: allPreferences({}),
  ...more,
});

const metamodel = seededMetamodel();
const around = (...people: Person[]): People => ({
  users: new Map(people.map((somebody) => [somebody.id, somebody])),
  cards: new Map([[CARD, { id: CARD, name: 'Claims Desk', type: 'Application' }]]),
  holders: new Map([[CARD, new Map([ANN, BOB].map((user): [string, string[]] => [user, ['observer']]))]]),
});

let position = 0;
function event(event_type: string, data: Record<string, unknown>, more: Partial<FeedRow> = {}): FeedRow {
  position += 1;
  return {
    position,
    event_type,
    scope: 'inventory',
    at: '2026-01-01T00:00:00.000Z',
    user_id: ANN,
    user_display_name: 'Ann',
    recipient_id: null,
    card_id: CARD,
    card_type: 'Application',
    peer_card_id: null,
    peer_card_type: null,
    relation_id: null,
    batch_id: id(1000 + position),
    cost_keys: null,
    data,
    ...more,
  };
}

const told = (events: FeedRow[], people: People = around(person(ANN), person(BOB), person(EVE))) =>
  deriveNotifications(events, { metamodel, people, dateFormat: 'DD MMM YYYY' }).map(
    ({ userId, type, title, message, link, things }) => ({
      userId,
      type,
      title,
      message,
      link,
      count: things.size,
    }),
  );

describe('a comment', () => {
  const comment = (content: string, mentions: string[], type = 'comment.created') =>
    event(type, { id: id(200), mentions, changes: { content: { old: null, new: content } } });

  it('is told to those it names as a mention, and to the other followers as a comment', () => {
    expect(
      told([comment(`Look, @[Eve E.](user:${EVE})\nand @[Bob](user:${BOB})!`, [EVE, BOB, ANN])]),
    ).toEqual([
      {
        userId: EVE,
        type: 'mentioned',
        title: 'You were mentioned on Claims Desk',
        message: `Ann: Look, @[Eve E.](user:${EVE}) and @[Bob](user:${BOB})!`,
        link: `/cards/${CARD}`,
        count: 1,
      },
      expect.objectContaining({ userId: BOB, type: 'mentioned' }),
    ]);
    expect(told([comment('Hello', [])])).toMatchObject([
      { userId: BOB, type: 'comment_added', title: 'New comment on Claims Desk', message: 'Ann: Hello' },
    ]);
    expect(told([comment('Changed', [EVE], 'comment.updated')])).toMatchObject([
      { userId: EVE, type: 'mentioned' },
    ]);
  });

  it('is not told to who may not read comments, see the card, or is switched off', () => {
    const blind = person(EVE, { permissions: new Set(['comments.view']) });
    const mute = person(BOB, { permissions: new Set(['inventory.view']) });
    expect(told([comment('Hi', [EVE, BOB])], around(person(ANN), blind, mute))).toEqual([]);
    const off = person(BOB, { preferences: allPreferences({ in_app: { comment_added: false } }) });
    expect(told([comment('Hi', [])], around(off))).toEqual([]);
    // mentions are switched off, comments are not
    const noMentions = person(BOB, {
      preferences: allPreferences({ in_app: { mentioned: false }, email: { mentioned: false } }),
    });
    expect(told([comment('Hi', [BOB])], around(noMentions))).toMatchObject([{ type: 'comment_added' }]);
  });

  it('passes over names that are no ids', () => {
    const odd = comment('Hi', ['nonsense', '', BOB]);
    odd.data.mentions = ['nonsense', 4711, null, BOB];
    expect(collectReferences([odd])).toEqual({ users: [BOB], cards: [CARD] });
    odd.data.mentions = 'no list';
    expect(collectReferences([odd]).users).toEqual([]);
  });
});

describe('a to-do', () => {
  const todo = (
    data: Record<string, unknown>,
    changes: Record<string, unknown>,
    more: Partial<FeedRow> = {},
  ) =>
    event(
      more.event_type ?? 'todo.created',
      { id: id(300), description: 'Check the contract', is_system: false, ...data, changes },
      more,
    );
  const set = (value: unknown) => ({ old: null, new: value });
  const update = { event_type: 'todo.updated' };

  it('is told to whom it was assigned, with its date as the workspace writes it', () => {
    const made = todo(
      { assigned_to: BOB, due_date: '2026-03-05' },
      { assigned_to: set(BOB), created_by: set(ANN), status: set('open') },
    );
    expect(told([made])).toEqual([
      {
        userId: BOB,
        type: 'todo_assigned',
        title: 'A to-do was assigned to you',
        message: 'Ann: Check the contract (Claims Desk, due on 05 Mar 2026)',
        link: '/todos',
        count: 1,
      },
    ]);
    const handedOver = { assigned_to: { old: BOB, new: EVE } };
    const moved = todo({ assigned_to: EVE }, handedOver, { ...update, card_id: null });
    expect(told([moved])).toMatchObject([{ userId: EVE, message: 'Ann: Check the contract' }]);
    expect(told([todo({ assigned_to: EVE }, { description: { old: 'A', new: 'B' } }, update)])).toEqual([]);
  });

  it('that one gave oneself is no news, unless a rule of others did', () => {
    const own = { assigned_to: set(ANN), created_by: set(ANN), status: set('open') };
    expect(told([todo({ assigned_to: ANN }, own)])).toEqual([]);
    const ruled = todo({ assigned_to: ANN, is_system: true }, { ...own, created_by: set(null) });
    expect(told([ruled])).toHaveLength(1);
    expect(told([todo({ assigned_to: ANN }, { ...own, created_by: set(BOB) })])).toHaveLength(1);
  });

  it('that recurs is told when it opens', () => {
    const next = { assigned_to: set(BOB), created_by: set(EVE), status: set('scheduled') };
    expect(told([todo({ assigned_to: BOB }, next)])).toEqual([]);
    const begun = { status: { old: 'scheduled', new: 'open' } };
    const opened = todo({ assigned_to: BOB }, begun, { ...update, user_id: null, user_display_name: null });
    const message = 'Estate: Check the contract (Claims Desk)';
    expect(told([opened])).toMatchObject([{ userId: BOB, message }]);
  });

  it('of one batch and user are one notification', () => {
    const batch_id = id(900);
    const many = [1, 2, 3].map(() =>
      todo({ assigned_to: BOB }, { assigned_to: set(BOB), created_by: set(ANN) }, { batch_id }),
    );
    expect(told(many)).toMatchObject([{ userId: BOB, count: 3 }]);
  });
});

it('a survey is told to those who are asked, but not to who has sent it', () => {
  const sent = event(
    'survey.sent',
    { id: id(400), name: 'Owners?', recipients: [ANN, BOB, EVE] },
    { card_id: null },
  );
  expect(told([sent])).toMatchObject([
    { userId: BOB, type: 'survey_request', message: 'Ann: Owners?', link: '/surveys' },
    { userId: EVE },
  ]);
  const undone = { ...sent, data: { ...sent.data, changes: { status: { old: 'active', new: 'draft' } } } };
  expect(told([undone])).toEqual([]);
});

it('costs are named by no text', () => {
  const cost = { 'attributes.costTotalAnnual': { old: 1, new: 2 } };
  const messageOf = (changes: object) =>
    told([event('card.updated', { id: CARD, changes }, { cost_keys: Object.keys(cost) })])[0]!.message;
  const both = { ...cost, 'attributes.businessCriticality': { old: null, new: 'x' } };
  expect(messageOf(both)).toBe('Ann has changed Business Criticality.');
  expect(messageOf(cost)).toBe('Ann has changed it.');
});
