import { execFileSync } from 'node:child_process';
import { quoted } from '../../console/src/ui/shell';

describe('a word of a shell', () => {
  it('is the text that was quoted', () => {
    const text = `a 'b' "c" $HOME \`id\` \\ '; exit 1; '\n`;
    expect(execFileSync('sh', ['-c', `printf %s ${quoted(text)}`], { encoding: 'utf8' })).toBe(text);
  });
});
