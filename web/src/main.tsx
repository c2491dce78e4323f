import '@fontsource-variable/inter/wght.css';
import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './kit/base.css';
import './shell/trusted.ts';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { configure } from '#client';
import { LanguageProvider } from './kit/messages.tsx';
import { styleNonce, Theme } from './kit/Theme.tsx';
import { meQuery, queryClient } from './shell/queries.ts';
import { router } from './shell/router.tsx';

// labels come as they are stored, and pages translate them
configure({
  headers: { 'X-Estate-Client': 'web', 'X-Request-Origin': 'web', 'Accept-Language': 'en' },
});

// a library of dialogs writes a style element of its own
Object.assign(window, { __webpack_nonce__: styleNonce() });

// without a cookie nobody is logged in: a request would only log an error
const session = document.querySelector<HTMLMetaElement>('meta[name="session"]');
if (session?.content === 'none') queryClient.setQueryData(meQuery.queryKey, null);

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
