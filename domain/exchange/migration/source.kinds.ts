import { fold } from './fold.ts';
import type { RowKind, SourceType } from './source.types.ts';

/** Rows that are no cards, but hang on them or join them. */
export type OtherKind = Extract<RowKind, 'relation' | 'document' | 'comment' | 'subscription'>;

const card = {
  factsheet: 'card',
  factsheetid: 'card',
  factsheetdisplayname: 'card',
  card: 'card',
  cardid: 'card',
  cardname: 'card',
  cardexternalid: 'card',
  factsheettype: 'card_type',
  cardtype: 'card_type',
};

const end = (name: string, words: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    words.flatMap((word) => [
      ...['', 'id', 'name', 'displayname', 'externalid', 'factsheet', 'factsheetid'].map((rest) => [
        word + rest,
        name,
      ]),
      [`${word}type`, `${name}_type`],
      [`${word}factsheettype`, `${name}_type`],
    ]),
  );

/** What columns of rows that are no cards mean, by their folded heads. */
const meanings: Record<OtherKind, Readonly<Record<string, string>>> = {
  relation: {
    ...end('source', ['source', 'from']),
    ...end('target', ['target', 'to']),
    fromrelatedfactsheetdisplayname: 'source',
    fromrelatedfactsheetid: 'source',
    fromrelatedfactsheettype: 'source_type',
    torelatedfactsheetdisplayname: 'target',
    torelatedfactsheetid: 'target',
    torelatedfactsheettype: 'target_type',
    type: 'relation_type',
    relationtype: 'relation_type',
    description: 'description',
    status: 'status',
  },
  document: {
    ...card,
    name: 'name',
    title: 'name',
    url: 'url',
    link: 'url',
    address: 'url',
    documenttype: 'document_type',
    linktype: 'document_type',
  },
  comment: {
    ...card,
    message: 'content',
    content: 'content',
    comment: 'content',
    text: 'content',
    author: 'author',
    useremail: 'author',
    email: 'author',
    createdat: 'created_at',
    date: 'created_at',
    status: 'status',
    replymessage: 'reply.content',
    replieremail: 'reply.author',
    replycreatedat: 'reply.created_at',
  },
  subscription: {
    ...card,
    user: 'person',
    useremail: 'person',
    username: 'person',
    email: 'person',
    emailaddress: 'person',
    person: 'person',
    stakeholder: 'person',
    subscriber: 'person',
    role: 'role',
    roles: 'role',
    rolename: 'role',
    subscriptionrole: 'role',
    subscriptiontype: 'role_type',
    roletype: 'role_type',
    status: 'status',
  },
};

const sheets: Record<string, Exclude<OtherKind, 'relation'>> = {
  document: 'document',
  documents: 'document',
  link: 'document',
  links: 'document',
  resource: 'document',
  resources: 'document',
  comment: 'comment',
  comments: 'comment',
  subscription: 'subscription',
  subscriptions: 'subscription',
  stakeholder: 'subscription',
  stakeholders: 'subscription',
};
/**
 * Sheets of a snapshot that tell of the other workspace: its tags come with the cards that have them, and nobody gets an
 * account by a file.
 */
const aboutTool = new Set(['taggroups', 'tags', 'types', 'user', 'users']);

/** What a column of such rows means by its head; undefined where no rule knows. */
export function otherTarget(kind: OtherKind, head: string): string | undefined {
  const found = meanings[kind];
  const name = fold(head);
  return Object.hasOwn(found, name) ? found[name] : undefined;
}

/** What the rows of a sheet are, by its name and its head. */
export function kindOfSheet(sheet: string, heads: readonly string[], source: SourceType): RowKind {
  const name = fold(sheet);
  if (source === 'leanix' && aboutTool.has(name)) return 'about';
  const has = (kind: OtherKind, target: string) => heads.some((head) => otherTarget(kind, head) === target);
  // whatever has a name is a thing of its own: an interface may well have a source and a target
  const named = heads.some((head) => ['name', 'displayname'].includes(fold(head)));
  if (!named && has('relation', 'source') && has('relation', 'target')) return 'relation';
  const kind = Object.hasOwn(sheets, name) ? sheets[name]! : undefined;
  if (kind === undefined || !has(kind, 'card')) return 'card';
  if (kind === 'comment') return has(kind, 'content') ? kind : 'card';
  if (kind === 'subscription') return has(kind, 'person') ? kind : 'card';
  return has(kind, 'url') || has(kind, 'name') ? kind : 'card';
}
