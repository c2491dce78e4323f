import fc from 'fast-check';
import type { InjectOptions } from 'fastify';
import type { Call } from '../access/matrix.row.ts';
import { between, pick, type Random } from '../bench/landscape/random.ts';
import { hostileBody, hostileHeaders, hostileText, hostileValue } from './hostile.ts';
import type { Operation } from './operations.ts';
import type { Mood } from './plan.ts';
import { fitting, type Known, type Schema } from './schema.arbitrary.ts';

/** One value of the arbitrary, always the same for the same place in the run. */
const one = <T>(arbitrary: fc.Arbitrary<T>, random: Random): T =>
  fc.sample(arbitrary, { numRuns: 1, seed: between(random, 0, 2 ** 31 - 1) })[0]!;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

interface Draft {
  path: Record<string, string>;
  query: [string, string][];
  headers: Record<string, string>;
  body: unknown;
  /** Sent as it is, in the place of the body. */
  text?: string;
}

/** Spoils one place of the request. */
function spoil(draft: Draft, operation: Operation, mood: Mood, known: Known, random: Random): void {
  const value = () => one(hostileValue, random);
  const changes: (() => void)[] = [
    () => Object.assign(draft.headers, one(hostileHeaders, random)),
    () => draft.query.push([one(hostileText, random).slice(0, 20) || 'x', one(hostileText, random)]),
  ];
  const names = Object.keys(draft.path);
  if (names.length > 0) {
    const name = pick(random, names);
    changes.push(() => {
      const ids = known(name);
      const other = mood === 'hostile' || ids.length === 0 ? one(hostileText, random) : pick(random, ids);
      draft.path[name] = other === '' ? ' ' : other.slice(0, 1_000);
    });
  }
  if (operation.parameters.length > 0) {
    const change = () => {
      const { name, schema } = pick(random, operation.parameters);
      const chosen =
        mood === 'hostile' ? one(hostileText, random) : one(fitting(schema, known, name), random);
      draft.query = [...draft.query.filter(([key]) => key !== name), [name, String(chosen)]];
    };
    changes.push(change, change);
  }
  const takesBody = operation.body !== undefined || isObject(draft.body);
  if (!takesBody && operation.method !== 'GET') {
    changes.push(() => {
      draft.text = mood === 'hostile' ? one(hostileBody, random) : JSON.stringify(value());
    });
  }
  if (takesBody) {
    const members = () => (isObject(draft.body) ? Object.keys(draft.body) : []);
    const into = (key: string, content: unknown) => {
      draft.body = { ...(isObject(draft.body) ? draft.body : {}), [key]: content };
    };
    changes.push(() => into(pick(random, [...members(), 'unknown_key', 'id', 'status']), value()));
    if (mood === 'hostile') {
      changes.push(() => {
        draft.text = one(hostileBody, random);
      });
    }
    if (operation.body) {
      const schema = operation.body;
      changes.push(() => {
        draft.body = one(fitting(schema, known), random);
      });
      const properties = Object.entries(schema.properties ?? {});
      if (properties.length > 0) {
        const change = () => {
          const [key, member] = pick(random, properties) as [string, Schema];
          into(key, one(fitting(member, known, key), random));
        };
        changes.push(change, change);
      }
      changes.push(() => {
        if (!isObject(draft.body)) return;
        const { [pick(random, [...members(), 'none'])]: _, ...rest } = draft.body;
        draft.body = rest;
      });
    }
  }
  pick(random, changes)();
}

/** The request that a call of the access table makes, as it is or spoilt. */
export function toRequest(
  operation: Operation,
  call: Call,
  mood: Mood,
  known: Known,
  random: Random,
): InjectOptions & { url: string } {
  const draft: Draft = {
    path: { ...call.path },
    query: [...new URLSearchParams(call.query ?? '')],
    headers: {},
    body: call.body,
  };
  if (mood !== 'valid') {
    const times = mood === 'nearly' ? 1 : between(random, 1, 4);
    for (let time = 0; time < times; time += 1) spoil(draft, operation, mood, known, random);
  }
  const fill = (_: string, name: string) => encodeURIComponent((draft.path[name] ?? 'x').toWellFormed());
  const query = draft.query.map((pair) =>
    pair.map((part) => encodeURIComponent(part.toWellFormed())).join('='),
  );
  const path = operation.path.replace(/\{(\w+)\}/g, fill);
  const json = draft.body === undefined ? undefined : JSON.stringify(draft.body);
  const untouched = call.raw && draft.text === undefined && draft.body === undefined;
  const payload = untouched ? call.raw!.text : (draft.text ?? json);
  const mediaType = untouched ? call.raw!.mediaType : payload === undefined ? undefined : 'application/json';
  return {
    method: operation.method as 'GET',
    url: query.length > 0 ? `${path}?${query.join('&')}` : path,
    headers: { ...(mediaType ? { 'content-type': mediaType } : {}), ...draft.headers },
    ...(payload === undefined ? {} : { payload }),
    remoteAddress: `10.${between(random, 1, 254)}.${between(random, 1, 254)}.${between(random, 1, 254)}`,
  };
}
