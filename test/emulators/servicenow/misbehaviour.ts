import type { Call } from './calls.ts';
import type { Fault } from './faults.ts';
import { type Answer, failure } from './http.ts';
import { type Instance, write } from './instance.ts';
import type { Account } from './users.ts';

/** How long a slow page is held back, in milliseconds. */
const SLOW_MS = 120_000;
/** Who changes rows behind the caller's back. */
const ELSEWHERE = 'abel.tuter';

/** Refusals in the words of the product. */
export const refusals = {
  unauthenticated: {
    ...failure(401, 'User Not Authenticated', 'Required to provide Auth information'),
    headers: { 'www-authenticate': 'BASIC realm="Service-now"' },
  },
  limited: failure(429, 'Rate limit exceeded', 'Rejected by rate limiting rule'),
} satisfies Record<string, Answer>;

const cancelled = failure(
  200,
  'Transaction cancelled: maximum execution time exceeded',
  'Transaction cancelled: maximum execution time exceeded Check logs for error trace or enable glide.rest.debug property to verify REST request processing',
);
const hibernating =
  '<html><head><title>Instance Hibernating page</title></head><body>Your instance is hibernating.</body></html>';

type Page = { result: Record<string, unknown>[] };

/** What goes wrong with one call, asked in the order in which it is answered. */
export class Misbehaviour {
  readonly #instance: Instance;
  readonly #call: Call;
  readonly #befallen: Set<Fault>;

  constructor(instance: Instance, call: Call) {
    this.#instance = instance;
    this.#call = call;
    this.#befallen = instance.faults.of(call.kind, call.table);
  }

  #strikes(fault: Fault): boolean {
    if (!this.#befallen.has(fault)) return false;
    this.#instance.faults.note(fault);
    return true;
  }

  /** Whether the caller is taken for nobody this time. */
  forgets(): boolean {
    if (this.#strikes('token_expired')) this.#instance.oauth.expireAll();
    return this.#strikes('unauthorised');
  }

  /** What is answered without anything being done. */
  instead(): Answer | undefined {
    if (this.#strikes('limited_with_wait')) return { ...refusals.limited, headers: { 'retry-after': '7' } };
    if (this.#strikes('limited_without_wait')) return refusals.limited;
    if (this.#strikes('server_error')) return failure(500, 'java.lang.NullPointerException', null);
    if (this.#strikes('html_answer')) {
      return { status: 200, headers: { 'content-type': 'text/html;charset=UTF-8' }, body: hibernating };
    }
    return undefined;
  }

  delay(): number | undefined {
    return this.#strikes('slow_page') ? SLOW_MS : undefined;
  }

  /** From now on a sixteenth of the configuration items and one column are kept from the account. */
  restrict(account: Account): void {
    if (!this.#strikes('acl_change')) return;
    const { store } = this.#instance;
    account.hidesRow = (row) => store.instanceOf(row.table, 'cmdb') && row.values.sys_id!.endsWith('7');
    account.hidesField = (_table, field) => field === 'short_description';
  }

  /** Whether the connection breaks though the write is done. */
  losesAnswer(): boolean {
    return this.#strikes('reset_after_write');
  }

  /** Changes the answer, and what lies behind it for the next. */
  alter(answer: Answer): void {
    if (this.#call.kind !== 'list' || answer.status !== 200) return;
    const page = answer.body as Page;
    if (page.result.length > 1 && this.#strikes('duplicate_ids')) page.result.splice(1, 0, page.result[0]!);
    const { repeats } = this.#instance;
    if (repeats && repeats.table === this.#call.table && repeats.pages > 0 && page.result.length > 1) {
      repeats.pages -= 1;
      page.result[1] = page.result[0]!;
    }
    if (page.result.length > 2 && this.#strikes('rows_between_pages')) this.#shuffle(page);
    if (this.#strikes('error_after_part')) {
      const part = page.result.slice(0, Math.ceil(page.result.length / 2));
      answer.body = { ...(cancelled.body as object), result: part };
    }
  }

  cuts(answer: Answer): boolean {
    return answer.body !== undefined && this.#strikes('truncated_json');
  }

  /** After a page a row on it goes, one changes, and one comes anywhere among those read and unread. */
  #shuffle({ result }: Page): void {
    const instance = this.#instance;
    const { store } = instance;
    if (!store.instanceOf(this.#call.table, 'cmdb')) return;
    const [gone, changed] = result.flatMap(({ sys_id }) => {
      const id = typeof sys_id === 'string' ? sys_id : (sys_id as { value?: string } | undefined)?.value;
      return store.rows.get(id ?? '') ?? [];
    });
    const mark = `after call ${instance.calls.length}`;
    if (gone) write.remove(instance, gone, ELSEWHERE);
    if (changed) write.update(instance, changed, { short_description: `changed ${mark}` }, ELSEWHERE);
    write.insert(instance, this.#call.table, { name: `arrived ${mark}` }, ELSEWHERE);
  }
}
