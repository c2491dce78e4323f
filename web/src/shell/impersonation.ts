import { call, impersonate, stopImpersonating } from '#client';

/** What one sees depends on the rights, so everything is loaded again. */
const reload = () => window.location.assign('/');

/** Goes on with the rights of a role, as far as the person has them too. */
export async function startImpersonation(role: string): Promise<void> {
  await call(impersonate({ body: { role } }));
  reload();
}

/** Goes back to the person's own rights. */
export async function stopImpersonation(): Promise<void> {
  await call(stopImpersonating());
  reload();
}
