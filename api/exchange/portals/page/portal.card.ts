import type { PublicCard, ShownField } from '../../../../domain/exchange/portals/portals.types.ts';
import { addressOf, fieldsOf, type PortalForm } from './portal.form.ts';
import { type Html, html, type Part } from './portal.html.ts';

const phases: [string, string][] = [
  ['plan', 'Plan'],
  ['phaseIn', 'Phase in'],
  ['active', 'Active'],
  ['phaseOut', 'Phase out'],
  ['endOfLife', 'End of life'],
];
const approvals: Record<string, string> = {
  DRAFT: 'Draft',
  APPROVED: 'Approved',
  REJECTED: 'Rejected',
  BROKEN: 'Changed since the approval',
};

/** User-provided text, isolated so that its text direction does not affect its surroundings. */
export const given = (name: string): Html => html`<bdi>${name}</bdi>`;

/** A dot in a colour of the metamodel; its meaning is also written as text. */
export function dot(color: string | null | undefined): Part {
  if (!color || !/^#[0-9a-f]{6}$/i.test(color)) return null;
  return html`<svg class="dot" viewBox="0 0 10 10" aria-hidden="true"><circle cx="5" cy="5" r="5" fill="${color}" /></svg>`;
}

const list = (items: Html[]): Html => html`<ul>${items.map((item) => html`<li>${item}</li>`)}</ul>`;
const day = (moment: string): Html => html`<time datetime="${moment}">${moment.slice(0, 10)}</time>`;

/** One card with the fields that the portal shows, in the portal's order. */
export function cardItem(form: PortalForm, card: PublicCard): Html {
  const fields = fieldsOf(form.portal);
  const facts = form.portal.display_fields.flatMap((entry) => {
    if (entry === 'description') return [];
    return factsOf(form, fields, card, entry).map(
      ([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>\n`,
    );
  });
  return html`<li id="card-${card.id}">
<article aria-labelledby="name-${card.id}">
<h3 id="name-${card.id}"><a href="#card-${card.id}">${given(card.name)}</a></h3>
${card.description ? html`<p class="about">${given(card.description)}</p>` : null}
${facts.length > 0 ? html`<dl>\n${facts}</dl>` : null}
</article>
</li>
`;
}

/** Labels and values of one shown field; empty without a value. */
function factsOf(
  form: PortalForm,
  fields: ReadonlyMap<string, ShownField>,
  card: PublicCard,
  entry: string,
): [string, Html][] {
  const { type_info } = form.portal;
  switch (entry) {
    case 'subtype': {
      const subtype = type_info.subtypes.find(({ key }) => key === card.subtype);
      return subtype ? [['Subtype', given(subtype.label)]] : [];
    }
    case 'lifecycle': {
      const dates = phases.flatMap(([key, label]) => {
        const date = card.lifecycle?.[key];
        return date ? [html`${label}: ${day(date)}`] : [];
      });
      return dates.length > 0 ? [['Life cycle', list(dates)]] : [];
    }
    case 'approval_status':
      return card.approval_status ? [['Approval', html`${approvals[card.approval_status]}`]] : [];
    case 'data_quality':
      return card.data_quality === null ? [] : [['Data quality', html`${card.data_quality} %`]];
    case 'tags': {
      const tags = card.tags.map(
        ({ color, name, group_name }) => html`${dot(color)}${given(`${group_name}: ${name}`)}`,
      );
      return tags.length > 0 ? [['Tags', list(tags)]] : [];
    }
    case 'updated_at':
      return card.updated_at ? [['Last changed', day(card.updated_at)]] : [];
  }
  if (entry.startsWith('relations.')) return relationFacts(form, card, entry.slice('relations.'.length));
  const field = fields.get(entry.slice('attributes.'.length));
  const value = field && card.attributes[field.key];
  return value === undefined || value === null || value === ''
    ? []
    : [[field!.label, wordsOf(field!, value)]];
}

function relationFacts(form: PortalForm, card: PublicCard, key: string): [string, Html][] {
  const type = form.portal.relation_types.find((relation) => relation.key === key);
  if (!type) return [];
  return (['outgoing', 'incoming'] as const).flatMap((direction): [string, Html][] => {
    const related = card.relations.filter(
      (relation) => relation.type === key && relation.direction === direction,
    );
    if (related.length === 0) return [];
    const label = direction === 'outgoing' ? type.label : (type.reverse_label ?? type.label);
    const links = related.map(({ related_id, related_name }) => {
      const address = addressOf(form, { filter: [`relations.${key}:${related_id}`], page: 1 });
      return html`<a href="${address}">${given(related_name)}</a>`;
    });
    return [[`${label} (${type.other_type_label})`, list(links)]];
  });
}

/** The value of an attribute as HTML. */
function wordsOf({ type, options = [] }: ShownField, value: unknown): Html {
  const option = (key: unknown): Html => {
    const found = options.find((candidate) => candidate.key === key);
    return html`${dot(found?.color)}${given(found?.label ?? String(key))}`;
  };
  if (type === 'boolean') return html`${value === true ? 'Yes' : 'No'}`;
  if (type === 'single_select') return option(value);
  if (Array.isArray(value)) return list(value.map(option));
  const text = String(value);
  if (type === 'date') return day(text);
  // other schemes could run scripts
  if (type === 'url' && /^https?:\/\//i.test(text)) {
    return html`<a href="${text}" rel="noopener noreferrer nofollow">${given(text)}</a>`;
  }
  return given(text);
}
