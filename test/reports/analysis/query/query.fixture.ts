import { randomUUID } from 'node:crypto';
import { command } from '../../../../domain/kernel/command.ts';
import type { TestApp } from '../../../support/harness.ts';

export type Component = { id: string; name: string; subtype: string | null; providers: string[] };

/** A card as the test knows it, with all that is linked to it. */
export interface App {
  id: string;
  attributes: Record<string, unknown>;
  lifecycle: Record<string, string> | null;
  components: { relation: string; cost: number | null; card: Component }[];
  tags: string[];
}

/** A few numbers that look random, and are the same in every run. */
export function sequence(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

const criticalities = ['missionCritical', 'businessCritical', 'businessOperational'];
const channels = ['web', 'mobile', 'desk'];

/** Adds fields of every kind to applications, and stores a small landscape. */
export async function storeLandscape(t: TestApp): Promise<App[]> {
  const pick = sequence(7);
  const maybe = <T>(value: T): T | undefined => (pick(4) === 0 ? undefined : value);
  const components: Component[] = Array.from({ length: 9 }, (_, n) => ({
    id: randomUUID(),
    name: `Component ${n % 7}`,
    subtype: ['software', 'hardware', null][n % 3]!,
    providers: [],
  }));
  const providers = ['Zenith', 'acme', 'Öko'].map((name) => ({ id: randomUUID(), name }));
  const tagIds = ['North', 'South'].map((name) => ({ id: randomUUID(), name }));
  const apps: App[] = Array.from({ length: 40 }, () => {
    const cost = maybe(pick(100) + 0.25);
    const options = maybe(channels.filter(() => pick(2) === 0));
    const critical = maybe(criticalities[pick(3)]!);
    const reviewed = maybe(`202${pick(4)}-0${1 + pick(9)}-1${pick(10)}`);
    const active = maybe(`202${pick(8)}-06-01`);
    const chosen = components.filter(() => pick(4) === 0);
    return {
      id: randomUUID(),
      attributes: {
        ...(cost === undefined ? {} : { costTotalAnnual: cost }),
        ...(options?.length ? { channels: options } : {}),
        ...(critical ? { businessCriticality: critical } : {}),
        ...(reviewed ? { reviewedOn: reviewed } : {}),
      },
      lifecycle: active ? { active, endOfLife: '2031-01-01' } : null,
      components: chosen.map((card) => ({ relation: randomUUID(), cost: maybe(pick(50)) ?? null, card })),
      tags: tagIds.filter(() => pick(3) === 0).map(({ name }) => name),
    };
  });
  for (const component of components)
    component.providers = providers.filter(() => pick(2) === 0).map(({ name }) => name);

  await command(await t.ctx(), async ({ sql, raise }) => {
    const type = await sql('card_types').where({ key: 'Application' }).first('fields_schema');
    const fields = [
      {
        key: 'channels',
        label: 'Channels',
        type: 'multiple_select',
        weight: 0,
        options: channels.map((key) => ({ key, label: key })),
      },
      { key: 'reviewedOn', label: 'Reviewed on', type: 'date', weight: 0 },
    ];
    await sql('card_types')
      .where({ key: 'Application' })
      .update({ fields_schema: JSON.stringify([...type.fields_schema, { section: 'More', fields }]) });
    const card = (row: Record<string, unknown>) => ({
      attributes: '{}',
      lifecycle: null,
      subtype: null,
      status: 'ACTIVE',
      ...row,
    });
    await sql('cards').insert([
      ...apps.map(({ id, attributes, lifecycle }, n) =>
        card({
          id,
          type: 'Application',
          name: `App ${n}`,
          attributes: JSON.stringify(attributes),
          lifecycle: lifecycle && JSON.stringify(lifecycle),
        }),
      ),
      ...components.map(({ id, subtype }, n) =>
        card({ id, type: 'ITComponent', name: `Component ${n}`, subtype }),
      ),
      ...providers.map(({ id, name }) => card({ id, type: 'Provider', name })),
      // never counted
      card({ id: randomUUID(), type: 'Application', name: 'Gone', status: 'ARCHIVED' }),
    ]);
    for (const component of components) component.name = `Component ${components.indexOf(component)}`;
    const gone = randomUUID();
    await sql('cards').insert(card({ id: gone, type: 'ITComponent', name: 'Gone', status: 'ARCHIVED' }));
    await sql('relations').insert([
      ...apps.flatMap((app) =>
        app.components.map(({ relation, cost, card: { id } }) => ({
          id: relation,
          type: 'relAppToITC',
          source_id: app.id,
          target_id: id,
          attributes: cost === null ? '{}' : JSON.stringify({ costTotalAnnual: cost }),
        })),
      ),
      { id: randomUUID(), type: 'relAppToITC', source_id: apps[0]!.id, target_id: gone, attributes: '{}' },
      ...components.flatMap(({ id, providers: names }) =>
        names.map((name) => ({
          id: randomUUID(),
          type: 'relProviderToITC',
          source_id: providers.find((provider) => provider.name === name)!.id,
          target_id: id,
          attributes: '{}',
        })),
      ),
    ]);
    const [group] = await sql('tag_groups').insert({ name: 'Region' }).returning('id');
    await sql('tags').insert(tagIds.map((tag) => ({ ...tag, tag_group_id: group.id })));
    await sql('card_tags').insert(
      apps.flatMap((app) =>
        app.tags.map((name) => ({ card_id: app.id, tag_id: tagIds.find((tag) => tag.name === name)!.id })),
      ),
    );
    raise('metamodel');
    raise('cards:Application');
    raise('relations:relAppToITC');
  });
  return apps;
}
