import { useEffect } from 'react';
import { ApiError, call, logout, readMe } from '#client';
import { meQuery, queryClient, useMe } from './queries.ts';

/** How often a page that is shown asks whose session it has, in milliseconds: rights may change at any time. */
const CHECK_MS = 60_000;
/** Checks by which the focus does not ask again, in milliseconds. */
const RECENT_MS = 5_000;

/** Tells the other tabs of the browser whose session it has. */
const channel = new BroadcastChannel('estate-session');

let checkedAt = performance.now();

/**
 * Loads the page anew if the session has ended, belongs to another account, or has other rights: nothing that it may not
 * see stays on the page or in its memory.
 */
export async function checkSession(): Promise<void> {
  const known = queryClient.getQueryData(meQuery.queryKey);
  if (!known) return;
  checkedAt = performance.now();
  const now = await call(readMe()).catch((error: unknown) =>
    error instanceof ApiError && error.status === 401 ? null : known,
  );
  const isSame =
    now?.id === known.id && JSON.stringify(now.permissions) === JSON.stringify(known.permissions);
  if (!isSame) window.location.reload();
}

/** Ends the session; nothing that was read stays in the page, nor in the other tabs. */
export async function leave(): Promise<void> {
  await call(logout());
  channel.postMessage(null);
  window.location.assign('/login');
}

const checkLater = () => {
  const isShown = document.visibilityState === 'visible';
  if (isShown && performance.now() - checkedAt > RECENT_MS) void checkSession();
};

/** Keeps pages to the session that the browser has. */
export function useSession(): void {
  const { id, impersonated_role } = useMe();
  useEffect(() => {
    const own = `${id} ${impersonated_role ?? ''}`;
    channel.postMessage(own);
    channel.onmessage = ({ data }: MessageEvent<string | null>) => {
      if (data !== own) void checkSession();
    };
    // on a slow line the code arrives long after the account was read
    if (performance.now() > RECENT_MS) void checkSession();
    const unsubscribe = queryClient.getQueryCache().subscribe((event) => {
      if (event.type !== 'updated' || event.action.type !== 'error') return;
      const { error } = event.action;
      if (error instanceof ApiError && (error.status === 401 || error.status === 403)) checkLater();
    });
    // a page that the browser has kept may be as old as the history
    const onPageShow = ({ persisted }: PageTransitionEvent) => persisted && void checkSession();
    const timer = window.setInterval(checkLater, CHECK_MS);
    window.addEventListener('focus', checkLater);
    document.addEventListener('visibilitychange', checkLater);
    window.addEventListener('pageshow', onPageShow);
    return () => {
      channel.onmessage = null;
      unsubscribe();
      window.clearInterval(timer);
      window.removeEventListener('focus', checkLater);
      document.removeEventListener('visibilitychange', checkLater);
      window.removeEventListener('pageshow', onPageShow);
    };
  }, [id, impersonated_role]);
}
