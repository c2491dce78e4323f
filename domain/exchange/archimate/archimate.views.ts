import { isUuid } from '../../../platform/uuid.ts';
import { xmlAttribute } from '../../../platform/xml.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { insertRow } from '../../kernel/resources/rows.ts';
import { insertDiagram } from '../../modelling/diagrams/diagrams.commands.ts';
import { DiagramGroup, type DiagramInput, groupEvent } from '../../modelling/diagrams/diagrams.load.ts';
import { htmlText } from '../../modelling/diagrams/drawing.work.ts';
import { valuesOf } from './archimate.map.ts';
import type { ModelView } from './archimate.parse.ts';

const BOX = 'rounded=1;whiteSpace=wrap;html=1;';
const LINE = 'edgeStyle=orthogonalEdgeStyle;rounded=1;html=1;endArrow=open;';

/** A view of another tool as a drawing; `cards` are the ids of its elements' cards. */
function drawnView(
  view: ModelView,
  cards: ReadonlyMap<string, string>,
  nameOf: (element: string) => string,
): string {
  const known = new Map(view.nodes.map(({ identifier }, at) => [identifier, `node-${at}`]));
  const boxes = view.nodes.map(({ element, label, x, y, w, h }, at) => {
    const text = xmlAttribute(htmlText(label || (element ? nameOf(element) : '')));
    const geometry = `<mxGeometry x="${x}" y="${y}" width="${w}" height="${h}" as="geometry"/>`;
    const cell = (more: string) => `<mxCell${more} style="${BOX}" vertex="1" parent="1">${geometry}</mxCell>`;
    const id = element ? cards.get(element) : undefined;
    if (!id) return cell(` id="node-${at}" value="${text}"`);
    return `<UserObject id="node-${at}" label="${text}" cardId="${id}">${cell('')}</UserObject>`;
  });
  const lines = view.connections.flatMap(({ source, target }, at) => {
    const [from, to] = [known.get(source), known.get(target)];
    if (!from || !to) return [];
    return `<mxCell id="line-${at}" style="${LINE}" edge="1" parent="1" source="${from}" target="${to}"><mxGeometry relative="1" as="geometry"/></mxCell>`;
  });
  const root = ['<mxCell id="0"/>', '<mxCell id="1" parent="0"/>', ...boxes, ...lines];
  return `<mxGraphModel><root>${root.join('')}</root></mxGraphModel>`;
}

export interface ViewCards {
  /** Ids of cards by the identifiers of elements. */
  ids: ReadonlyMap<string, string>;
  nameOf(element: string): string;
}

/**
 * Creates a diagram from a view. A view that this service exported becomes the same diagram, with its id unless a
 * diagram with this id exists already: that one is not changed.
 * @param again whether a view that the caller has imported before is left unchanged.
 * @throws EstateError for a drawing that is not valid.
 */
export async function importView(
  work: Work,
  ctx: Ctx,
  view: ModelView,
  { ids, nameOf }: ViewCards,
  again: boolean,
): Promise<'created' | 'unchanged'> {
  const values = valuesOf(view.properties);
  const id = values.get('id');
  const isOwn = typeof id === 'string' && isUuid(id);
  if (!isOwn && again && (await isThere(work, ctx, view.identifier))) return 'unchanged';
  if (isOwn && (await work.sql('diagrams').where({ id }).first('id'))) return 'unchanged';
  const drawing = values.get('drawing');
  const xml = typeof drawing === 'string' ? drawing : drawnView(view, ids, nameOf);
  const { settings, thumbnail, description } = Object.fromEntries(values);
  const input: DiagramInput = {
    name: view.name.trim().slice(0, 200) || view.identifier.slice(0, 200) || 'View',
    description: typeof description === 'string' ? description : view.documentation,
    data: {
      ...(isObject(settings) ? settings : {}),
      ...(isOwn ? {} : { [SOURCE]: view.identifier }),
      xml,
      ...(typeof thumbnail === 'string' ? { thumbnail } : {}),
    },
    card_ids: await knownCards(work, values.get('card_ids')),
    ...(await audienceOf(work, ctx, values)),
  };
  const group_ids = await groupsOf(work, values.get('groups'));
  await insertDiagram(work, ctx, input, { ...(isOwn ? { id } : {}), group_ids });
  return 'created';
}

/** The setting in which a diagram stores the identifier of its view. */
const SOURCE = 'archimate_view';

async function isThere({ sql }: Work, ctx: Ctx, identifier: string): Promise<boolean> {
  const row = await sql('diagrams')
    .whereRaw('settings ->> ? = ?', [SOURCE, identifier])
    .whereRaw('(private_to is null or private_to = ?)', [ctx.caller.userId])
    .first('id');
  return row !== undefined;
}

/** The sharing of the diagram: users are found by their addresses; without any the diagram is private. */
async function audienceOf(
  { sql }: Work,
  ctx: Ctx,
  values: ReadonlyMap<string, unknown>,
): Promise<Pick<DiagramInput, 'visibility' | 'shared_with'>> {
  const visibility = values.get('visibility');
  if (visibility !== 'private' && visibility !== 'shared') return { visibility: 'public' };
  const shares = values.get('shared_with');
  const editors = new Map(
    (visibility === 'shared' && Array.isArray(shares) ? shares : [])
      .filter(isObject)
      .map(({ email, can_edit }) => [String(email).toLowerCase(), can_edit === true]),
  );
  const people: { id: string; email: string }[] = await sql('users')
    .whereRaw('lower(email) = any(?::text[])', [[...editors.keys()]])
    .where({ is_active: true })
    .whereNot({ id: ctx.caller.userId })
    .orderBy('id')
    .limit(100)
    .select('id', 'email');
  if (people.length === 0) return { visibility: 'private' };
  return {
    visibility: 'shared',
    shared_with: people.map(({ id, email }) => ({
      user_id: id,
      can_edit: editors.get(email.toLowerCase())!,
    })),
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The ids that are cards of visible types. */
async function knownCards({ sql, metamodel }: Work, ids: unknown): Promise<string[]> {
  if (!Array.isArray(ids)) return [];
  return await sql('cards')
    .whereRaw('id = any(?::uuid[])', [ids.map(String).filter(isUuid)])
    .whereIn('type', metamodel.visibleTypes)
    .orderBy('id')
    .pluck('id');
}

/** The groups with these names; missing ones are created. */
async function groupsOf({ sql, emit }: Work, groups: unknown): Promise<string[]> {
  if (!Array.isArray(groups)) return [];
  const ids: string[] = [];
  for (const group of groups.filter(isObject)) {
    const name = String(group.name).trim().slice(0, 200);
    const color = /^#[0-9a-f]{6}$/i.test(String(group.color)) ? String(group.color) : null;
    const sort_order = Number.isInteger(group.sort_order) ? Number(group.sort_order) : 0;
    if (!name) continue;
    const known = await sql('diagram_groups').whereRaw('lower(name) = lower(?)', [name]).first('id');
    if (known) ids.push(known.id);
    else {
      const row = await insertRow(sql, DiagramGroup, { name, color, sort_order });
      emit(groupEvent(null, row));
      ids.push(row.id);
    }
  }
  return [...new Set(ids)].sort();
}
