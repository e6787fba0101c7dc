import type { ReactNode, SVGProps } from 'react';

/** Paths of the icons, drawn on a grid of 16 by 16 with a line width of 1.4. */
const PATHS = {
  home: <path d="M2.5 7.2 8 2.6l5.5 4.6v6.2H9.8V9.8H6.2v3.6H2.5z" />,
  playground: <path d="M2.5 3h11v7.6H7.8L4.9 13v-2.4H2.5zM5.4 5.8h5.2M5.4 8h3.2" />,
  threads: <path d="M3 4h10M3 8h10M3 12h6" />,
  runs: <path d="M4.5 3v10l8-5z" />,
  inbox: <path d="M2.5 9.2 4.4 3h7.2l1.9 6.2V13h-11zM2.5 9.2h3.3c.3 1.2 1.1 1.8 2.2 1.8s1.9-.6 2.2-1.8h3.3" />,
  traces: <path d="M2.5 3.5h8M5 7h8.500M5 10.500h5M7.500 14h4" transform="translate(0 -.7)" />,
  exports: <path d="M8 2.500v7M5.200 6.900 8 9.700l2.800-2.800M2.800 10.500v3h10.400v-3" />,
  crons: (
    <>
      <circle cx="8" cy="8" r="5.500" />
      <path d="M8 4.800V8l2.300 1.500" />
    </>
  ),
  store: (
    <>
      <ellipse cx="8" cy="4" rx="5" ry="1.800" />
      <path d="M3 4v8c0 1 2.200 1.800 5 1.800s5-.8 5-1.800V4M3 8c0 1 2.200 1.800 5 1.800S13 9 13 8" />
    </>
  ),
  webhooks: <path d="M2.500 3.500h11v9h-11zM2.800 4l5.200 4.500L13.200 4" />,
  assistants: (
    <>
      <rect x="3" y="5.500" width="10" height="7.500" rx="1.800" />
      <path d="M8 5.500V3M6 9h.01M10 9h.01M6.500 11h3" />
    </>
  ),
  protocols: <path d="M5.500 5.500 2.800 8l2.700 2.500M10.500 5.500 13.200 8l-2.700 2.500M9 3.500 7 12.500" />,
  settings: (
    <>
      <circle cx="8" cy="8" r="2" />
      <path d="M8 2.200v1.600M8 12.200v1.600M2.200 8h1.600M12.200 8h1.600M3.900 3.900 5 5M11 11l1.100 1.100M3.900 12.100 5 11M11 5l1.100-1.100" />
    </>
  ),
  system: <path d="M2.500 3h11v7.500h-11zM6 13.500h4M8 10.500v3M4.500 7h1.700l1-2 1.700 3.500 1-1.500h1.600" />,
  search: (
    <>
      <circle cx="7" cy="7" r="4.200" />
      <path d="m10.200 10.200 3.300 3.300" />
    </>
  ),
  close: <path d="m4 4 8 8M12 4l-8 8" />,
  check: <path d="m3 8.500 3.200 3.200L13 4.700" />,
  copy: <path d="M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3" />,
  code: <path d="M5.500 4.500 2.200 8l3.300 3.500M10.500 4.500 13.800 8l-3.300 3.500" />,
  plus: <path d="M8 3v10M3 8h10" />,
  trash: <path d="M3 4.500h10M6.200 4.500V2.800h3.600v1.700M4.300 4.500l.6 9h6.200l.6-9M6.800 7v4M9.200 7v4" />,
  edit: <path d="M10.500 3 13 5.500 6 12.500l-3.200.7.700-3.200z" />,
  fork: (
    <>
      <circle cx="4.500" cy="3.500" r="1.500" />
      <circle cx="11.500" cy="3.500" r="1.500" />
      <circle cx="8" cy="12.500" r="1.500" />
      <path d="M4.500 5v1.200C4.500 7.600 5.500 8 8 8s3.500-.4 3.500-1.800V5M8 8v3" />
    </>
  ),
  retry: <path d="M12.800 8a4.800 4.800 0 1 1-1.500-3.500M11.500 2v2.700H8.800" />,
  stop: <rect x="4" y="4" width="8" height="8" rx="1" />,
  send: <path d="M8 13V3.500M4 7l4-3.800L12 7" />,
  link: (
    <path d="M6.500 9.500 9.500 6.500M7 4.500l1.500-1.500a2.800 2.800 0 0 1 4 4L11 8.500M9 11.500 7.500 13a2.800 2.800 0 0 1-4-4L5 7.500" />
  ),
  external: <path d="M6.500 3.500h-3v9h9v-3M9 2.800h4.200V7M13 3 7.500 8.500" />,
  right: <path d="m6 3.500 4.500 4.500L6 12.500" />,
  down: <path d="m3.500 6 4.500 4.500L12.500 6" />,
  menu: <path d="M2.500 4.500h11M2.500 8h11M2.500 11.500h11" />,
  sun: (
    <>
      <circle cx="8" cy="8" r="2.800" />
      <path d="M8 1.800v1.500M8 12.700v1.500M1.800 8h1.500M12.700 8h1.500M3.600 3.600l1.100 1.100M11.300 11.300l1.100 1.100M3.600 12.400l1.100-1.100M11.300 4.700l1.100-1.100" />
    </>
  ),
  moon: <path d="M13 9.700A5.500 5.500 0 0 1 6.300 3 5.500 5.500 0 1 0 13 9.700z" />,
  key: (
    <>
      <circle cx="5.500" cy="10.500" r="2.800" />
      <path d="m7.500 8.500 5.700-5.700M10.500 5.500l2 2" />
    </>
  ),
  warning: <path d="M8 2.500 14 13H2zM8 6.500v3M8 11.300v.01" />,
  attach: (
    <path d="m12.800 7.500-5 5a3 3 0 0 1-4.300-4.200l5.300-5.300a2 2 0 0 1 2.900 2.800l-5.200 5.200a1 1 0 0 1-1.400-1.400l4.600-4.600" />
  ),
  dot: <circle cx="8" cy="8" r="2.500" fill="currentColor" stroke="none" />,
  more: <path d="M3.500 8h.01M8 8h.01M12.500 8h.01" strokeWidth="2.200" />,
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16, ...rest }: { name: IconName; size?: number } & SVGProps<SVGSVGElement>) {
  return (
    <svg
      viewBox="0 0 16 16"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      {...rest}
      className={`shrink-0 ${rest.className ?? ''}`}
    >
      {PATHS[name]}
    </svg>
  );
}
