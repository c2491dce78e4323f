import { MAX_PAGED } from '../../../../domain/exchange/portals/portals.query.ts';
import type { PublicCard, ShownField } from '../../../../domain/exchange/portals/portals.types.ts';
import { counted } from '../../../../platform/counted.ts';
import { document, type Html, html, type Part } from './portal.document.ts';
import { addressOf, fieldsOf, PAGE_SIZE, type PortalForm } from './portal.form.ts';

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
const given = (name: string): Html => html`<bdi>${name}</bdi>`;

/** A dot in a colour of the metamodel; its meaning is also written as text. */
function dot(color: string | null | undefined): Part {
  if (!color || !/^#[0-9a-f]{6}$/i.test(color)) return null;
  return html`<svg class="dot" viewBox="0 0 10 10" aria-hidden="true"><circle cx="5" cy="5" r="5" fill="${color}" /></svg>`;
}

const list = (items: Html[]): Html => html`<ul>${items.map((item) => html`<li>${item}</li>`)}</ul>`;
const day = (moment: string): Html => html`<time datetime="${moment}">${moment.slice(0, 10)}</time>`;

/** One card with the fields that the portal shows, in the portal's order. */
function cardItem(form: PortalForm, card: PublicCard): Html {
  const fields = fieldsOf(form.portal);
  const { display_fields, card_config } = form.portal;
  const parts = (entries: string[]): Part[] => {
    const facts = entries.flatMap((entry) =>
      factsOf(form, fields, card, entry).map(
        ([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>\n`,
      ),
    );
    const about = entries.includes('description') && card.description;
    return [
      about ? html`<p class="about">${given(about)}</p>\n` : null,
      facts.length > 0 ? html`<dl>\n${facts}</dl>` : null,
    ];
  };
  const more = parts(display_fields.filter((entry) => !card_config.short_fields.includes(entry)));
  return html`<li id="card-${card.id}">
<article aria-labelledby="name-${card.id}">
<h3 id="name-${card.id}"><a href="#card-${card.id}">${given(card.name)}</a></h3>
${parts(card_config.short_fields)}
${more.some(Boolean) ? html`<details>\n<summary>More</summary>\n${more}</details>` : null}
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

/** The data of the workspace that a page shows. */
interface Workspace {
  title: string;
  /** Whether it has a custom logo and icon. */
  logo: boolean;
  icon: boolean;
}

/** The page of a portal: a form that works without scripts, the cards, and links to other pages. */
export function portalPage(form: PortalForm & { workspace: Workspace }): string {
  const { portal, workspace, query } = form;
  const hasLogo = workspace.logo && portal.card_config.show_logo;
  const parts = [portal.name, query.page > 1 ? `page ${query.page}` : '', workspace.title];
  return document({
    title: parts.filter(Boolean).join(' – '),
    indexed: portal.card_config.indexed,
    icon: workspace.icon,
    body: html`<a class="skip" href="#cards">Skip to the cards</a>
<header>
${hasLogo ? html`<img src="/api/v1/settings/logo" alt="${workspace.title || 'Logo'}" />` : null}
${workspace.title && !hasLogo ? html`<p>${given(workspace.title)}</p>` : null}
<h1>${given(portal.name)}</h1>
${portal.description ? html`<p>${given(portal.description)}</p>` : null}
</header>
${searchForm(form)}
<main id="cards" tabindex="-1" aria-labelledby="cards-title">
<h2 id="cards-title">${dot(portal.type_info.color)}${given(portal.type_info.label)}</h2>
${pageStatus(form)}
${cardList(form)}
${pager(form)}
</main>`,
  });
}

/** `role="list"`, because some browsers do not expose lists without bullets as lists. */
function cardList(form: PortalForm): Html {
  const { items } = form.cards;
  if (items.length > 0) {
    return html`<ol class="cards" role="list">\n${items.map((card) => cardItem(form, card))}</ol>`;
  }
  const all = addressOf(form, { search: '', filter: [], page: 1 });
  return all === addressOf(form)
    ? html`<p>There are no cards yet.</p>`
    : html`<p>No cards were found. <a href="${all}">Show all cards</a></p>`;
}

const lastPage = (total: number): number =>
  Math.max(1, Math.ceil(Math.min(total, MAX_PAGED - (MAX_PAGED % PAGE_SIZE)) / PAGE_SIZE));

function pageStatus({ cards: { total }, query }: PortalForm): Html {
  return html`<p role="status">${counted(total, 'card')}, page ${query.page} of ${lastPage(total)}</p>`;
}

function pager(form: PortalForm): Part {
  const { page } = form.query;
  const last = lastPage(form.cards.total);
  const link = (to: number, rel: string, label: string) =>
    html`<li><a href="${addressOf(form, { page: to })}" rel="${rel}">${label}</a></li>`;
  if (last === 1 && page === 1) return null;
  return html`<nav aria-label="Pages">
<ul role="list">
${page > 1 ? link(1, 'first', 'First page') : null}
${page > 1 ? link(Math.min(page - 1, last), 'prev', 'Previous page') : null}
${page < last ? link(page + 1, 'next', 'Next page') : null}
</ul>
</nav>`;
}

interface Choice {
  value: string;
  label: string;
}

function searchForm(form: PortalForm): Html {
  const { portal, query } = form;
  const where = portal.display_fields.includes('description') ? 'name and description' : 'name';
  return html`<form method="get" action="/portal/${portal.slug}" role="search" aria-label="Search and filter">
<div><label for="search">Search in ${where}</label>
<input type="search" id="search" name="search" value="${query.search}" maxlength="200" /></div>
${filters(form)}
${sortChoice(form)}
<div><button type="submit">Show</button> <a href="/portal/${portal.slug}">Reset</a></div>
</form>`;
}

/** A select list. It shows the first selected value that no other list shows, and adds it to `shown`. */
function choice(
  form: PortalForm,
  shown: Set<string>,
  { id, label, name }: { id: string; label: string; name: string },
  choices: Choice[],
): Part {
  if (choices.length === 0) return null;
  const chosen = form.chosen.get(name) ?? [];
  const current = choices.find(({ value }) => chosen.includes(value))?.value;
  if (current !== undefined) shown.add(`${name}:${current}`);
  const options = choices.map(
    ({ value, label: text }) =>
      html`<option value="${name}:${value}"${value === current ? SELECTED : null}>${text}</option>`,
  );
  return html`<div><label for="${id}">${label}</label>
<select id="${id}" name="filter"><option value="">Any</option>${options}</select></div>
`;
}

const SELECTED = html` selected="selected"`;

function filters(form: PortalForm): Part[] {
  const { type_info, tag_groups, relation_types } = form.portal;
  const shown = new Set<string>();
  const subtypes = type_info.subtypes.map(({ key, label }) => ({ value: key, label }));
  return [
    choice(form, shown, { id: 'subtype', label: 'Subtype', name: 'subtype' }, subtypes),
    ...tag_groups.map(({ name: label, tags }, n) => {
      const choices = tags.map(({ id, name }) => ({ value: id, label: name }));
      return choice(form, shown, { id: `tag-${n}`, label, name: 'tag' }, choices);
    }),
    ...[...fieldsOf(form.portal).values()].map((field, n) => {
      const list = { id: `attribute-${n}`, label: field.label, name: `attributes.${field.key}` };
      return choice(form, shown, list, valuesOf(field));
    }),
    ...relation_types.map(({ key }, n) => {
      const name = `relations.${key}`;
      const choices = (form.options.get(key) ?? []).map((card) => ({ value: card.id, label: card.name }));
      return choice(form, shown, { id: `relation-${n}`, label: labelOf(form, name), name }, choices);
    }),
    // last, because it depends on what the other lists show
    ...otherFilters(form, shown),
  ];
}

/** Select lists for selected filters without their own list, such as a related card from a card's link. */
function otherFilters(form: PortalForm, shown: ReadonlySet<string>): Html[] {
  const names = new Map(
    form.cards.items.flatMap(({ relations }) =>
      relations.map(({ type, related_id, related_name }) => [
        `relations.${type}:${related_id}`,
        related_name,
      ]),
    ),
  );
  const left = [...form.chosen].flatMap(([name, values]) =>
    values.map((value) => ({ name, value, said: `${name}:${value}` })).filter(({ said }) => !shown.has(said)),
  );
  return left.map(
    ({ name, value, said }, n) => html`<div><label for="other-${n}">${labelOf(form, name)}, chosen</label>
<select id="other-${n}" name="filter"><option value="">Any</option><option value="${said}"${SELECTED}>${
      names.get(said) ?? value
    }</option></select></div>
`,
  );
}

/** The label of a filter. */
function labelOf({ portal }: PortalForm, name: string): string {
  const relation = portal.relation_types.find(({ key }) => name === `relations.${key}`);
  if (!relation) return fieldsOf(portal).get(name.slice('attributes.'.length))?.label ?? name;
  const { source_type_key, label, reverse_label, other_type_label } = relation;
  return `${source_type_key === portal.card_type ? label : (reverse_label ?? label)} (${other_type_label})`;
}

function valuesOf({
  type,
  options = [],
}: {
  type: string;
  options?: { key: string; label: string }[];
}): Choice[] {
  if (type === 'boolean') {
    return [
      { value: 'true', label: 'Yes' },
      { value: 'false', label: 'No' },
    ];
  }
  return type === 'single_select' || type === 'multiple_select'
    ? options.map(({ key, label }) => ({ value: key, label }))
    : [];
}

const coreSorts: Record<string, string> = {
  subtype: 'Subtype',
  approval_status: 'Approval',
  data_quality: 'Data quality',
  updated_at: 'Last change',
};

function sortChoice(form: PortalForm): Html {
  const { portal, query } = form;
  const fields = fieldsOf(portal);
  const sorts: [string, string][] = [
    ['name', 'Name'],
    ...portal.display_fields.flatMap((entry): [string, string][] => {
      if (coreSorts[entry]) return [[entry, coreSorts[entry]]];
      const field = entry.startsWith('attributes.')
        ? fields.get(entry.slice('attributes.'.length))
        : undefined;
      return field ? [[entry, field.label]] : [];
    }),
  ];
  const options = sorts.flatMap(([key, label]) =>
    [
      [key, `${label}, rising`],
      [`-${key}`, `${label}, falling`],
    ].map(
      ([value, text]) =>
        html`<option value="${value}"${value === query.sort ? SELECTED : null}>${text}</option>`,
    ),
  );
  return html`<div><label for="sort">Order</label>
<select id="sort" name="sort"><option value="">Usual order</option>${options}</select></div>`;
}
