import { createHash } from 'node:crypto';
import { escapeHtml, palette } from '../../../api/exchange/portals/page/portal.document.ts';
import { form } from '../../support/forms.ts';
import { ok, openApp, type TestResponse } from '../../support/harness.ts';
import { all, createLandscape, makePortal, uncounted } from './portals.fixture.ts';

// their types would bring those of a browser into every other file
const { DOMParser } = await import('@xmldom/xmldom' as string);
const { default: xpath } = await import('xpath' as string);
type Found = { textContent: string; nodeValue: string };

const { t, admin } = await openApp(['admin']);
const land = await createLandscape(admin);

beforeEach(() => uncounted(t));

const open = (slug: string, query = '', headers: Record<string, string> = {}) =>
  t.anonymous.get(`/portal/${slug}${query}`, headers);

/** What a page says: the page is written so that it is XML as well, which is read strictly. */
function read(answer: TestResponse) {
  const faults: unknown[] = [];
  const onError = (_level: string, message: string) => void faults.push(message);
  const page = new DOMParser({ onError }).parseFromString(answer.text, 'text/xml');
  expect(faults).toEqual([]);
  const nodes = (path: string) => xpath.select(path, page) as Found[];
  const texts = (path: string) => nodes(path).map(({ textContent }) => textContent.trim());
  const values = (path: string) => nodes(path).map(({ nodeValue }) => nodeValue);
  return { nodes, texts, values };
}

describe('the page of a portal', () => {
  it('shows cards with what the portal shows, and can be used without a script', async () => {
    const { slug } = await makePortal(admin, { description: 'All of them.', display_fields: all });
    const answer = await open(slug);
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    const page = read(answer);
    expect(page.texts('//title')).toEqual(['Products']);
    expect(page.values('/html/@lang')).toEqual(['en']);
    expect(page.texts('//h1 | //h2 | //h3')).toEqual(['Products', 'Product', 'Alpha Desk', 'Beta Desk']);
    expect(page.texts('//main//*[@role="status"]')).toEqual(['2 cards, page 1 of 1']);
    // the first thing that is reached leads past the form; its target is there
    expect(page.values('(//a)[1]/@href')).toEqual(['#cards']);
    expect(page.nodes('//main[@id="cards"][@tabindex="-1"]')).toHaveLength(1);
    // each card can be linked to
    expect(page.values(`//li[@id="card-${land.ids.alpha}"]//h3/a/@href`)).toEqual([
      `#card-${land.ids.alpha}`,
    ]);
    const facts = `//li[@id="card-${land.ids.alpha}"]//dl/div`;
    const labels = page.texts(`${facts}/dt`);
    expect(labels).toEqual([
      ...['Subtype', 'Life cycle', 'Approval', 'Data quality', 'Tags', 'Last changed', 'grade', 'channels'],
      ...['seats', 'open', 'home', 'is sold by (Vendor)', 'is haunted by (Ghost)'],
    ]);
    const said = Object.fromEntries(labels.map((label, n) => [label, page.texts(`${facts}/dd`)[n]]));
    expect(said).toMatchObject({
      ...{ Subtype: 'Tool', Approval: 'Draft', grade: 'GOLD', seats: '5', open: 'Yes' },
      ...{ 'Life cycle': 'Active: 2024-01-31', channels: 'WEBSHOP', Tags: 'Colour: RedMood: Blue' },
    });
    expect(page.texts(`//li[@id="card-${land.ids.alpha}"]//p`)).toEqual(['Pays the wages.']);
    // to choose from are the cards that shown ones are related to
    expect(page.texts('//select[starts-with(@id, "relation-")]/option')).toEqual([
      ...['Any', 'Acme', 'Any', 'Casper'],
    ]);
    expect(page.values('//a[starts-with(@href, "https:")]/@rel')).toEqual(['noopener noreferrer nofollow']);
    // every field has its label, and every id is there once
    const fields = page.values('//input/@id | //select/@id');
    expect(page.values('//form//label/@for')).toEqual(fields);
    expect(fields).toEqual([
      ...['search', 'subtype', 'tag-0', 'tag-1', 'attribute-0', 'attribute-1', 'attribute-3'],
      ...['relation-0', 'relation-1', 'sort'],
    ]);
    const ids = page.values('//@id');
    expect(new Set(ids).size).toBe(ids.length);
    expect(page.nodes('//script | //@style | //@*[starts-with(name(), "on")] | //iframe')).toEqual([]);
  });

  it('shows the long form of a card on demand, and the logo where it is wanted', async () => {
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><circle r="4"/></svg>');
    const logo = form({ name: 'file', filename: 'logo', content: svg });
    await ok(admin.request({ method: 'POST', url: '/api/v1/settings/logo', ...logo }));
    const shown = { display_fields: ['description', 'grade', 'seats'] };
    const card_config = { short_fields: ['grade'], show_logo: false };
    const { slug } = await makePortal(admin, { ...shown, card_config });
    const page = read(await open(slug));
    const alpha = `//li[@id="card-${land.ids.alpha}"]//article`;
    expect(page.texts(`${alpha}/dl/div/dt`)).toEqual(['grade']);
    expect(page.texts(`${alpha}/details/summary`)).toEqual(['More']);
    expect(page.texts(`${alpha}/details/dl/div/dt`)).toEqual(['seats']);
    expect(page.texts(`${alpha}/details/p`)).toEqual(['Pays the wages.']);
    // without further values there is nothing to open
    const whole = read(await open((await makePortal(admin, shown)).slug));
    expect(whole.nodes('//details')).toEqual([]);
    expect([page, whole].map(({ nodes }) => nodes('//header/img').length)).toEqual([0, 1]);
    await ok(admin.delete('/api/v1/settings/logo'), 204);
  });

  it('lets browsers run, load and list nothing else', async () => {
    const { slug } = await makePortal(admin);
    const answer = await open(slug);
    const style = /<style>([\s\S]*?)<\/style>/.exec(answer.text)![1]!;
    const hash = createHash('sha256').update(style).digest('base64');
    expect(answer.headers['content-security-policy']).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    );
    expect(answer.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
      'cache-control': 'public, max-age=30',
    });
    expect(read(answer).values('//meta[@name="robots"]/@content')).toEqual(['noindex']);
    const again = await open(slug, '', { 'if-none-match': answer.headers.etag! });
    expect([again.status, again.text]).toEqual([304, '']);
    const page = await open((await makePortal(admin, { card_config: { indexed: true } })).slug);
    expect([page.headers['x-robots-tag'], read(page).nodes('//meta[@name="robots"]')]).toEqual([
      undefined,
      [],
    ]);
  });

  it('searches, filters, orders and pages by its address', async () => {
    const { slug } = await makePortal(admin, { display_fields: all });
    const shown = async (query: string) => read(await open(slug, query)).texts('//h3');
    expect(await shown('?search=wages')).toEqual(['Alpha Desk']);
    expect(await shown('?filter=attributes.grade:silver&filter=&filter=tag:')).toEqual(['Beta Desk']);
    expect(await shown('?filter=attributes.open:true&filter=attributes.seats:5')).toEqual(['Alpha Desk']);
    expect(await shown(`?filter=tag:${land.tags.red}&filter=tag:${land.tags.blue}`)).toEqual(['Alpha Desk']);
    expect(await shown('?filter=subtype:service')).toEqual([]);
    expect(await shown('?sort=-attributes.seats')).toEqual(['Beta Desk', 'Alpha Desk']);
    expect(await shown('?page=9')).toEqual([]);
    // a related card's name leads to the cards that have it; what is chosen stays chosen
    const [to] = read(await open(slug, '?search=desk')).values('//dd//a[.="Acme"]/@href');
    expect(to).toBe(`/portal/${slug}?search=desk&filter=relations.soldBy%3A${land.ids.acme}`);
    const followed = read(await t.anonymous.get(to!));
    expect(followed.texts('//h3')).toEqual(['Alpha Desk']);
    expect(followed.texts('//option[@selected]')).toEqual(['Acme']);
    expect(followed.values('//input/@value')).toEqual(['desk']);
    const blue = read(await open(slug, `?filter=tag:${land.tags.red}&filter=tag:${land.tags.unused}`));
    expect(blue.texts('//option[@selected]')).toEqual(['Red', land.tags.unused]);
  });

  it('leads from page to page', async () => {
    for (let n = 0; n < 25; n += 1) await admin.card({ type: 'Ghost', name: `Ghost ${n}` });
    const { slug } = await makePortal(admin, { card_type: 'Ghost' });
    const links = async (query = '') => read(await open(slug, query)).values('//nav//a/@rel');
    expect(await links()).toEqual(['next']);
    expect(await links('?page=2')).toEqual(['first', 'prev']);
    expect(await links('?page=9')).toEqual(['first', 'prev']);
    const second = read(await open(slug, '?search=ghost&page=2'));
    expect(second.texts('//h3')).toHaveLength(1);
    expect(second.texts('//title')).toEqual(['Products – page 2']);
    expect(second.values('//a[@rel="prev"]/@href')).toEqual([`/portal/${slug}?search=ghost`]);
  });

  it('escapes whatever people have written', async () => {
    const hostile = `"><script>alert(1)</script><img src=x onerror='alert(2)'>&amp;\u202e`;
    const [card] = [
      await admin.post('/api/v1/cards', {
        type: 'Product',
        name: `Hostile ${hostile}`,
        description: `${hostile}\u0001`,
        attributes: { home: 'https://x.example/?"><script>' },
      }),
    ];
    expect(card.status, card.text).toBe(201);
    const vendor = await admin.post('/api/v1/cards', { type: 'Vendor', name: `Vendor ${hostile}` });
    const relation = { type: 'soldBy', source_id: card.body.id, target_id: vendor.body.id };
    await admin.create('/api/v1/relations', relation);
    const { slug } = await makePortal(admin, { name: hostile, description: hostile, display_fields: all });
    await admin.patch('/api/v1/settings/app-title', { app_title: '<b>Estate & "Co"</b>' });
    const answer = await open(slug, `?search=${encodeURIComponent(`hostile"'><script>`)}`);
    await admin.patch('/api/v1/settings/app-title', { app_title: '' });
    expect(answer.status, answer.text).toBe(200);
    const page = read(answer);
    expect(page.nodes('//script | //img | //b | //@onerror')).toEqual([]);
    expect(page.texts('//h1')).toEqual([hostile]);
    expect(page.texts('//h3')).toEqual([`Hostile ${hostile}`]);
    expect(page.texts('//p[@class="about"]')).toEqual([hostile]);
    expect(page.values('//input/@value')).toEqual([`hostile"'><script>`]);
    expect(page.texts('//header/p')[0]).toBe('<b>Estate & "Co"</b>');
    expect(escapeHtml(`<>&"'`)).toBe('&lt;&gt;&amp;&quot;&#39;');
  });

  it('tells failures to people as a page, and to programs as ever', async () => {
    const { slug } = await makePortal(admin, { is_published: false });
    const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    for (const [address, status] of [
      [slug, 404],
      ['none', 404],
      [`${slug}?page=x`, 422],
    ] as const) {
      const answer = await open(address, '', html);
      expect(answer.status, address).toBe(status);
      expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
      expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(read(answer).texts('//h1')).toHaveLength(1);
      expect((await open(address)).headers['content-type']).toContain('application/problem+json');
    }
    const published = await makePortal(admin);
    const refused = await open(published.slug, '?filter=attributes.%3Cb%3E:1', html);
    expect(refused.status).toBe(422);
    expect(read(refused).values('//a/@href')).toEqual([`/portal/${published.slug}`]);
    for (const query of ['?other=1', '?filter=name', '?filter=stakeholder.x:1', '?sort=-attributes.price'])
      expect((await open(published.slug, query)).status, query).toBe(422);
    expect((await open(published.slug, '?utm_source=news&fbclid=1')).status).toBe(200);
  });

  it('has one main part, a header and a search, and fits a narrow screen (WCAG 2.2, 1.4.10)', async () => {
    const answer = await open((await makePortal(admin, { display_fields: all })).slug);
    const page = read(answer);
    expect(page.nodes('//main | /html/body/header | //form[@role="search"][@aria-label]')).toHaveLength(3);
    expect(page.nodes('//h1')).toHaveLength(1);
    // pictures say what they are, or are hidden from those who hear the page
    expect(page.nodes('//img[not(@alt)] | //svg[not(@aria-hidden="true")]')).toEqual([]);
    // no column is wider than the screen, and no table would need heads
    expect(answer.text.match(/minmax\((?!min\()/g)).toBeNull();
    expect(page.nodes('//table')).toEqual([]);
    expect(answer.text).not.toMatch(/outline:\s*(none|0)/);
  });

  it('can be gone through by ear and by keyboard, found or not (WCAG 2.2, 1.3.1, 2.4 and 4.1.2)', async () => {
    const { slug } = await makePortal(admin, { display_fields: all, description: 'All of them.' });
    const html = { accept: 'text/html' };
    const pages = {
      whole: await open(slug),
      empty: await open(slug, '?search=nothing-like-it'),
      beyond: await open(slug, '?page=7'),
      refused: await open(slug, '?filter=x', html),
      unknown: await open('none', '', html),
    };
    for (const [name, answer] of Object.entries(pages)) {
      const page = read(answer);
      const none = (path: string) => expect([name, path, page.nodes(path).length]).toEqual([name, path, 0]);
      expect([
        name,
        page.values('/html/@lang'),
        page.texts('//h1 | //title[normalize-space()]').length,
      ]).toEqual([name, ['en'], 2]);
      // headings go down step by step
      const levels = [...answer.text.matchAll(/<h([1-6])[ >]/g)].map(([, level]) => Number(level));
      expect(levels[0]).toBe(1);
      for (const [n, level] of levels.entries()) expect(level - (levels[n - 1] ?? 0)).toBeLessThanOrEqual(1);
      // whatever takes the focus says what it is, in the order in which it stands
      none('//a[not(normalize-space())] | //button[not(normalize-space())]');
      none('//input[not(@id = //label/@for)] | //select[not(@id = //label[normalize-space()]/@for)]');
      none('//select/option[not(normalize-space())]');
      none('//@tabindex[. > 0] | //@accesskey | //@autofocus | //a[@target] | //meta[@http-equiv]');
      none(
        '//nav[not(@aria-label)] | //ul[parent::nav][not(@role="list")] | //ol[@class="cards"][not(@role="list")]',
      );
      // what is referred to is there
      const ids = new Set(page.values('//@id'));
      const targets = page.values('//a[starts-with(@href, "#")]/@href').map((href) => href.slice(1));
      for (const target of [...targets, ...page.values('//@for | //@aria-labelledby')])
        expect([name, target, ids.has(target)]).toEqual([name, target, true]);
    }
    expect(read(pages.empty).texts('//main/p')).toEqual([
      '0 cards, page 1 of 1',
      'No cards were found. Show all cards',
    ]);
    expect(read(pages.empty).values('//main//a/@href')).toEqual([`/portal/${slug}`]);
  });

  it('has text that can be read on what it stands on', () => {
    const light = (color: string) => {
      const [r, g, b] = [1, 3, 5].map((at) => {
        const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      }) as [number, number, number];
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const contrast = (a: string, b: string) => {
      const [low, high] = [light(a), light(b)].sort((x, y) => x - y) as [number, number];
      return (high + 0.05) / (low + 0.05);
    };
    for (const text of [palette.text, palette.muted, palette.link]) {
      for (const ground of [palette.ground, palette.panel])
        expect(contrast(text, ground), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5);
    }
    // borders of fields: WCAG 1.4.11
    expect(contrast(palette.line, palette.ground)).toBeGreaterThanOrEqual(3);
  });
});
