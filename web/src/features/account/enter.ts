import type { useNavigate } from '@tanstack/react-router';
import { queryClient } from '../../shell/queries.ts';

/**
 * Goes on after a login: to the page that was asked for, or first to the set-up of the second factor that the workspace
 * requires.
 */
export async function enter(
  navigate: ReturnType<typeof useNavigate>,
  session: { two_factor_setup_required?: boolean },
  next?: string,
): Promise<void> {
  queryClient.clear();
  if (session.two_factor_setup_required)
    await navigate({ to: '/two-factor', search: { next }, replace: true });
  else await navigate({ href: next ?? '/', replace: true });
}
