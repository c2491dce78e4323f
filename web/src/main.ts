import '@fontsource-variable/inter/wght.css';
import './generated/mantine.css';
import '@mantine/notifications/styles.css';
import './kit/base.css';
import './shell/trusted.ts';
import { configure } from '#client';
import { styleNonce } from './kit/nonce.ts';
import { askFirst } from './shell/first.ts';

// labels come as they are stored, and pages translate them
configure({
  headers: { 'X-Estate-Client': 'web', 'X-Request-Origin': 'web', 'Accept-Language': 'en' },
});

// a library of dialogs writes a style element of its own
Object.assign(window, { __webpack_nonce__: styleNonce() });

// the service answers while the browser compiles the pages
askFirst(window.location.pathname);
void import('./app.tsx');
