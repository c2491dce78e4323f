import type { Knex } from 'knex';
import { channelRefusal } from '../../domain/collaboration/channels/channels.commands.ts';
import type { Ctx } from '../../domain/kernel/context.ts';
import {
  enqueueMails,
  enqueueMessages,
  type Mail,
  mailConfigured,
} from '../../domain/kernel/mail/mail.enqueue.ts';
import { appUrl, formatDate, type MailParts, renderMail } from '../../domain/kernel/mail/mail.templates.ts';
import { readSetting } from '../../domain/kernel/settings/settings.read.ts';
import { isObject } from '../../domain/kernel/shapes.ts';
import { query, type Sql } from '../../platform/database.ts';
import { EstateError } from '../../platform/errors.ts';
import type { ExtractionRun } from '../../reports/exchange/schedules/extraction-runs.store.ts';
import { splitRecipients } from '../../reports/exchange/schedules/extraction-schedules.recipients.ts';
import type { KeyFigure } from '../../reports/exchange/schedules/scheduled-report.types.ts';
import type { InLanguage } from '../../reports/kernel/charts/charts.texts.ts';
import { reportText } from '../../reports/kernel/report.texts.ts';

/** Larger files are linked instead of attached: many mail servers refuse them. */
const MAX_ATTACHED_BYTES = 10 * 1000 * 1000;

/** A run whose files are made. */
type MadeRun = ExtractionRun & { file_id: string; manifest_id: string };

/** @throws EstateError `mail_not_configured`, `forbidden` if nobody may receive the file any more. */
export async function requireMailable(sql: Sql, recipients: string[]): Promise<void> {
  if (!(await mailConfigured(sql))) {
    throw new EstateError(
      'mail_not_configured',
      'No mail server is configured; set one with PATCH /api/v1/settings/email.',
    );
  }
  const { allowed } = await splitRecipients(sql, recipients);
  if (allowed.length > 0) return;
  throw new EstateError(
    'forbidden',
    'None of the recipients is an active user, or in a domain of the setting mail-recipients: name others.',
  );
}

/**
 * Enqueues the mails of a run in the transaction that ends it, so that they are sent only once.
 * @returns the recipients who may not receive files any more, and get no mail.
 */
export async function mailRun(
  sql: Knex.Transaction,
  ctx: Ctx,
  run: MadeRun,
  recipients: string[],
): Promise<string[]> {
  const { allowed, refused } = await splitRecipients(sql, recipients);
  const { app_base_url: base } = await readSetting(sql, 'email');
  const app = (await readSetting(sql, 'app_title')) || 'Estate';
  const { name, size } = await sql('files').where({ id: run.file_id }).first('name', 'size');
  const attached = Number(size) <= MAX_ATTACHED_BYTES;
  const url = `${base.replace(/\/+$/, '')}${fileOf(run)}`;
  const content = run.report
    ? renderMail(
        await reportParts(sql, run, { app, base, name, isLinked: !attached }, attached ? undefined : url),
      )
    : { text: extractionText(run, name, await senderOf(sql, run, app), attached ? undefined : url) };
  const mail: Omit<Mail, 'to'> = {
    subject: `${app}: ${run.schedule_name}`,
    ...content,
    ...(attached ? { attachment: run.file_id } : {}),
  };
  await enqueueMails(
    sql,
    ctx,
    allowed.map((to) => ({ ...mail, to })),
  );
  return refused;
}

/** @throws EstateError `forbidden` if the owner of the schedule may not use the channel any more, or it is paused. */
export async function requireChannel(ctx: Ctx, id: string): Promise<void> {
  const refusal = await channelRefusal(ctx.db, ctx, id);
  if (refusal !== undefined) throw new EstateError('forbidden', refusal);
}

/** Enqueues the message of a run in the transaction that ends it. Files are linked: webhooks take none. */
export async function messageRun(
  sql: Knex.Transaction,
  ctx: Ctx,
  run: MadeRun,
  channel: string,
): Promise<void> {
  const { app_base_url: base } = await readSetting(sql, 'email');
  const app = (await readSetting(sql, 'app_title')) || 'Estate';
  const { name } = await sql('files').where({ id: run.file_id }).first('name');
  const file = appUrl(base, fileOf(run));
  const about = { app, base, name, isLinked: true };
  const parts = run.report
    ? await reportParts(sql, run, about)
    : {
        heading: run.schedule_name,
        paragraphs: [`The extraction of ${run.slot.toISOString()} is ready: ${name}`],
        footer: [await senderOf(sql, run, app)],
      };
  const items = [...(parts.items ?? []), ...(file ? [{ title: name, text: file, url: file }] : [])];
  await enqueueMessages(sql, ctx, [{ channel, parts: { ...parts, items } }]);
}

/** The path of the file of a run. */
const fileOf = (run: MadeRun): string =>
  `/api/v1/extraction-schedules/${run.schedule_id}/runs/${run.id}/file`;

/** For whom and by which schedule a run is sent: recipients know the owner, who chose the schedule's name. */
async function senderOf(
  sql: Knex.Transaction,
  run: MadeRun,
  app: string,
  of: InLanguage = {},
): Promise<string> {
  const user = await sql('users').where({ id: run.owner_id }).first('display_name');
  return reportText(of, 'mail.footer', {
    app,
    owner: user?.display_name ?? '',
    schedule: run.schedule_name,
  });
}

function extractionText(run: MadeRun, name: string, sender: string, url: string | undefined): string {
  const where =
    url === undefined
      ? `It is attached as ${name}.`
      : `It is too large for a mail. Fetch ${name} with your login:\n\n${url}`;
  return `The extraction "${run.schedule_name}" of ${run.slot.toISOString()} is ready.\n\n${where}\n\n${sender}\n`;
}

interface About {
  app: string;
  base: string;
  /** The name of the file. */
  name: string;
  /** Whether the file is not attached. */
  isLinked: boolean;
}

/**
 * The mail or message of a report: its key figures with their change since the last delivery, and where it is.
 * @param url of the file, if it is too large for a mail.
 */
async function reportParts(
  sql: Knex.Transaction,
  run: MadeRun,
  { app, base, name, isLinked }: About,
  url?: string,
): Promise<MailParts> {
  const of: InLanguage = { language: run.report!.language };
  const said = await query(sql).row<{ name: string; report_type: string; config: unknown }>`
    select s.name, s.report_type, s.config
    from saved_reports s where s.id = ${run.report!.saved_report_id}`;
  const report = said?.name ?? run.schedule_name;
  const format = await readSetting(sql, 'date_format');
  const dateOf = (at: Date) => formatDate(at.toISOString(), format, of.language ?? 'en');
  const { items, since } = await figureLines(sql, run, of);
  const page = said && appUrl(base, pageOf(run.report!.saved_report_id, said.report_type, said.config));
  const values = { report, date: dateOf(run.slot), file: name };
  return {
    heading: run.schedule_name,
    paragraphs: [
      reportText(of, isLinked ? (url === undefined ? 'mail.ready' : 'mail.linked') : 'mail.attached', values),
      ...(url === undefined ? [] : [url]),
      ...(items.length === 0 ? [] : [reportText(of, 'mail.figures', { date: dateOf(run.slot) })]),
      ...(since ? [reportText(of, 'mail.since', { date: dateOf(since) })] : []),
    ],
    items,
    ...(page ? { button: { label: reportText(of, 'mail.open', { app }), url: page } } : {}),
    footer: [await senderOf(sql, run, app, of)],
  };
}

/** The key figures of a run, each with its change since the last delivery of the same content. */
async function figureLines(
  sql: Sql,
  run: MadeRun,
  of: InLanguage,
): Promise<{ items: { title: string; text: string }[]; since: Date | undefined }> {
  const currency = await readSetting(sql, 'currency');
  const figures = await query(sql).value<KeyFigure[] | null>`
    select figures from extraction_runs where id = ${run.id}`;
  const before = await query(sql).row<{ slot: Date; figures: KeyFigure[] }>`select r.slot, r.figures
    from extraction_runs r join extraction_schedules e on e.id = r.schedule_id
    where r.schedule_id = ${run.schedule_id} and r.slot < ${run.slot} and r.status = 'succeeded'
      and r.figures is not null and r.started_at >= e.updated_at
    order by r.slot desc limit 1`;
  const write = (value: number, unit: KeyFigure['unit'], sign: boolean) =>
    new Intl.NumberFormat(of.language ?? 'en', {
      maximumFractionDigits: unit === 'currency' ? 0 : 1,
      ...(unit === 'currency' ? { style: 'currency', currency } : {}),
      ...(unit === 'percent' && !sign ? { style: 'unit', unit: 'percent' } : {}),
      ...(sign ? { signDisplay: 'exceptZero' } : {}),
    }).format(value);
  /** The difference of two percentages is in points. */
  const changeOf = (change: number, unit: KeyFigure['unit']) => {
    const text = write(change, unit, true);
    if (unit !== 'percent') return text;
    return reportText(of, 'mail.points', { change: text, count: Math.abs(Math.round(change * 10) / 10) });
  };
  const items = (figures ?? []).map(({ key, name, value, unit }) => {
    const old = before?.figures.find((one) => one.key === key);
    const change = old ? ` (${changeOf(value - old.value, unit)})` : '';
    return { title: name, text: `${write(value, unit, false)}${change}` };
  });
  return { items, since: before?.slot };
}

/** The page of a saved report. */
function pageOf(id: string, type: string, config: unknown): string {
  if (type === 'dashboard') return `/dashboards/${id}`;
  const { path, search } = isObject(config) ? config : {};
  if (typeof path !== 'string') return '/reports';
  const given = Object.entries({
    ...(isObject(search) ? search : {}),
    ...(path.startsWith('/reports/') && { saved: id }),
  });
  const params = given.map(([key, value]) => [
    key,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return `${path}?${new URLSearchParams(params as [string, string][])}`;
}
