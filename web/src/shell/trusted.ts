/** The part of Trusted Types that is used; TypeScript's library has no types of it. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML: Rule; createScriptURL: Rule }): unknown;
}
/** The text if it is allowed; null is a violation of the content security policy. */
type Rule = (text: string) => string | null;

const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };

/**
 * What may be set as HTML or run as a script: style sheets, which the library of components sets as text without tags, and
 * workers of this build.
 */
trustedTypes?.createPolicy('default', {
  createHTML: (text) => (text.includes('<') ? null : text),
  createScriptURL: (address) => {
    const { origin, pathname } = new URL(address, window.location.href);
    return origin === window.location.origin && pathname.startsWith('/assets/') ? address : null;
  },
});
