import { extname } from 'node:path';

interface TaggedFile {
  basename: string;
  version: string;
}

/** Text inside an attribute that has single quotes around it, as the reference servers write `onload`. */
const inAttribute = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll("'", '&#39;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/**
 * The tags that put a component into a page: style sheets first, then the script, which renders into the shadow root whose id
 * the client puts in the place of `{{shadowRootId}}`. Browsers say with `crossorigin` which page asks, and leave cookies out.
 * @param base address of `/ui`, without it
 */
export function uiTags(base: string, agent: string, component: string, files: readonly TaggedFile[]): string {
  const address = ({ basename, version }: TaggedFile): string =>
    // The base has the name of the host as the request spelled it, in which a quote is no error.
    `${base.replaceAll('"', '%22')}/ui/${encodeURIComponent(agent)}/${encodeURIComponent(basename)}?v=${version}`;
  const withEnding = (ending: string): TaggedFile[] => files.filter(({ basename }) => extname(basename) === ending);
  const styles = withEnding('.css').map(
    (file) => `<link rel="stylesheet" href="${address(file)}" crossorigin="anonymous" />`,
  );
  const call = `__LGUI_${agent.replace(/[^a-zA-Z0-9]/g, '_')}.render(${inAttribute(JSON.stringify(component))}, "{{shadowRootId}}")`;
  const scripts = withEnding('.js')
    .slice(0, 1)
    .map((file) => `<script src="${address(file)}" crossorigin="anonymous" onload='${call}'></script>`);
  return [...styles, ...scripts].join('\n');
}
