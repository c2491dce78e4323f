import { type Act, type Acts, type Hand, onRow, removing } from './hand.ts';

const letters = (hand: Hand) => hand.name('n').replace(/\W/g, '');
const types = '/metamodel/types';
const CUSTOM = 'not built_in';

const addType: Act = (hand) =>
  hand.send('POST', types, {
    key: `T${letters(hand)}`,
    label: hand.name('Type'),
    has_hierarchy: hand.chance(0.5),
    fields_schema: [{ section: 'Main', fields: [{ key: 'size', label: 'Size', type: 'number', weight: 2 }] }],
    stakeholder_roles: hand.one([[], [{ key: 'keeper', label: 'Keeper' }]]),
  });
const patchType: Act = async (hand) => {
  const custom = await hand.row('card_types', CUSTOM);
  const key = hand.chance(0.5) && custom ? custom.key : hand.one(['ITComponent', 'Provider']);
  await hand.send('PATCH', `${types}/${key}`, {
    ...hand.one([
      { label: hand.name('Label'), translations: { label: { de: hand.name('Etikett') } } },
      { description: hand.one([null, 'About']), color: '#123456' },
      { section_config: { __dataQuality: { description: hand.below(4), tags: hand.below(3) } } },
      { subtypes: hand.one([[], [{ key: 'one', label: 'One' }]]) },
      { is_hidden: key === 'Provider' && hand.chance(0.5) },
    ]),
  });
};
/** Adds a field to Application, or takes one of those away again with what cards hold in it. */
const patchFields: Act = async (hand) => {
  const type = (await hand.row('card_types', "key = 'Application'")) as unknown as {
    fields_schema: { section: string; fields: { key: string }[] }[];
  };
  const { fields_schema } = type;
  const extra = fields_schema.find(({ section }) => section === 'Extra');
  const rest = fields_schema.filter((section) => section !== extra);
  const added = {
    section: 'Extra',
    fields: [
      ...(extra?.fields ?? []),
      {
        ...{ key: `f${letters(hand)}`, label: 'Extra', type: 'single_select', weight: hand.below(3) },
        options: [{ key: 'a', label: 'A' }],
      },
    ],
  };
  const keep = extra && hand.chance(0.5) ? rest : [...rest, added];
  await hand.send('PATCH', `${types}/Application?force=true`, { fields_schema: keep });
};
const fillField: Act = async (hand) => {
  const type = (await hand.row('card_types', "key = 'Application'")) as unknown as {
    fields_schema: { section: string; fields: { key: string }[] }[];
  };
  const fields = type.fields_schema.find(({ section }) => section === 'Extra')?.fields ?? [];
  const on = await hand.row('cards', "type = 'Application'");
  if (on && fields.length > 0)
    await hand.send('PATCH', `/cards/${on.id}`, { attributes: { [hand.one(fields).key]: 'a' } });
};
const hideType: Act = (hand) =>
  hand.chance(0.5)
    ? hand.send('DELETE', `${types}/Platform`)
    : hand.send('PATCH', `${types}/Platform`, { is_hidden: false });

const relationTypes = '/metamodel/relation-types';
const addRelationType: Act = async (hand) => {
  const custom = await hand.row('card_types', CUSTOM);
  await hand.send('POST', relationTypes, {
    key: `r${letters(hand)}`,
    label: 'touches',
    source_type_key: 'Application',
    target_type_key: custom?.key ?? 'Provider',
    source_mandatory: hand.chance(0.3),
  });
};
const patchRelationType: Act = (hand) =>
  hand.send('PATCH', `${relationTypes}/${hand.one(['relAppToBC', 'relAppToITC'])}?force=true`, {
    ...hand.one([
      { label: hand.name('does') },
      { source_mandatory: hand.chance(0.5), target_mandatory: hand.chance(0.5) },
      { description: hand.one([null, 'About']), sort_order: hand.below(20) },
    ]),
  });
const deleteRelationType: Act = async (hand) => {
  const custom = await hand.row('relation_types', CUSTOM);
  const key = custom && hand.chance(0.8) ? custom.key : 'relAppToITC';
  await hand.send('DELETE', `${relationTypes}/${key}?force=true`);
};

const roles = `${types}/Application/stakeholder-roles`;
const addRole: Act = (hand) =>
  hand.send('POST', roles, { key: `r${letters(hand)}`, label: 'Role', permissions: { 'card.edit': true } });
const changeRole: Act = async (hand) => {
  const role = await hand.row('stakeholder_role_definitions', "card_type_key = 'Application'");
  if (!role) return;
  const act = hand.one(['archive', 'restore', '', '']);
  const url = `${roles}/${role.key}`;
  if (act) await hand.send('POST', `${url}/${act}`);
  else
    await hand.send('PATCH', url, {
      label: hand.name('Role'),
      permissions: { 'card.archive': hand.chance(0.5) },
    });
};

/** Entries of the catalogues: made, changed and deleted. */
const catalogue: Act = async (hand) => {
  const [path, table, values] = hand.one<[string, string, () => object]>([
    [
      'principles',
      'principles',
      () => ({ title: hand.name('Principle'), rationale: hand.one([null, 'So']) }),
    ],
    [
      'compliance-regulations',
      'compliance_regulations',
      () => ({ key: letters(hand), label: hand.name('Regulation'), is_enabled: hand.chance(0.5) }),
    ],
    [
      'resource-types',
      'resource_types',
      () => ({
        kind: hand.one(['link_type', 'file_category']),
        key: letters(hand),
        label: hand.name('Kind'),
      }),
    ],
  ]);
  const there = await hand.row(table);
  const what = hand.below(3);
  if (what === 0 || !there) await hand.send('POST', `/metamodel/${path}`, values());
  else if (what === 1) await hand.send('DELETE', `/metamodel/${path}/${there.id}`);
  else {
    const { key: _, kind: __, ...rest } = values() as Record<string, unknown>;
    await hand.send('PATCH', `/metamodel/${path}/${there.id}`, { ...rest, sort_order: hand.below(9) });
  }
};

/** Settings that hold no secret. */
const setting: Act = (hand) => {
  const enabled = hand.chance(0.5);
  const [path, body] = hand.one<[string, object]>([
    ['currency', { currency: hand.one(['EUR', 'CHF', 'USD']) }],
    ['date-format', { date_format: hand.one(['YYYY-MM-DD', 'DD.MM.YYYY']) }],
    ['app-title', { app_title: hand.name('Title') }],
    ['bpm-enabled', { enabled }],
    ['ppm-enabled', { enabled }],
    ['grc-enabled', { enabled }],
    ['ai-analysis-enabled', { enabled }],
    [
      'bpm-row-order',
      {
        row_order: hand.one([
          ['core', 'management', 'support'],
          ['support', 'core', 'management'],
        ]),
      },
    ],
    ['fiscal-year-start', { month: 1 + hand.below(12) }],
    ['archive-retention-days', { days: 30 + hand.below(90) }],
    ['registration', { enabled }],
    ['principles-display', { enabled }],
    ['cors-origins', { origins: hand.one([[], ['https://portal.example']]) }],
    ['api-token-life', { days: 30 + hand.below(300) }],
    ['notification-digest', { minutes: 5 + hand.below(60) }],
    ['mail-recipients', { domains: hand.one([[], ['estate.example']]) }],
    ['login-branding', { login_tagline: hand.name('Hello') }],
    ['email', { smtp_host: hand.one(['mail.example', 'post.example']), smtp_port: 25 }],
    ['retention', { events_days: 400 + hand.below(300) }],
    ['matching-vocabulary', { synonyms: [['Ordering', hand.name('Order')]], vendors: [hand.name('Vendor')] }],
    ['mcp', { enabled }],
  ]);
  return hand.send('PATCH', `/settings/${path}`, body);
};
const picture: Act = async (hand) => {
  const key = hand.one(['logo', 'favicon']);
  if (hand.chance(0.3)) await hand.send('DELETE', `/settings/${key}`);
  else {
    const svg = `<svg xmlns="http://www.w3.org/2000/svg"><circle r="${hand.below(4)}"/></svg>`;
    await hand.upload(`/settings/${key}`, 'picture.svg', svg);
  }
};

/** Writes to the metamodel, the catalogues and the settings. */
export const workspaceActs: Acts = [
  [addType, 2],
  [patchType, 2],
  [patchFields, 3],
  [fillField, 3],
  [removing(onRow('card_types', (custom) => ['DELETE', `${types}/${custom.key}`], CUSTOM)), 1],
  [hideType, 1],
  [addRelationType, 1],
  [patchRelationType, 2],
  [deleteRelationType, 2],
  [onRow('relation_types', (hidden) => ['POST', `${relationTypes}/${hidden.key}/restore`], 'is_hidden'), 1],
  [addRole, 1],
  [changeRole, 2],
  [catalogue, 6],
  [setting, 5],
  [picture, 3],
];
