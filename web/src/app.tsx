import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { configure } from '#client';
import { LanguageProvider } from './kit/messages.tsx';
import { styleNonce } from './kit/nonce.ts';
import { Theme } from './kit/Theme.tsx';
import { fetchFirst, hasSession, headers } from './shell/first.ts';
import { meQuery, queryClient } from './shell/queries.ts';
import { router } from './shell/router.tsx';

configure({ headers, fetch: fetchFirst });

// a library of dialogs writes a style element of its own
Object.assign(window, { __webpack_nonce__: styleNonce() });

if (!hasSession()) queryClient.setQueryData(meQuery.queryKey, null);

/** For how many milliseconds the browser shows nothing while the first page is read. */
const BLANK_MS = 1_000;

function show(): void {
  createRoot(document.getElementById('root')!).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <LanguageProvider>
          <Theme>
            <RouterProvider router={router} />
          </Theme>
        </LanguageProvider>
      </QueryClientProvider>
    </StrictMode>,
  );
}

// a page that is there is drawn at once, not after a frame that waits for it
const waited = new Promise((resolve) => setTimeout(resolve, BLANK_MS));
void Promise.race([router.load(), waited]).finally(show);
