# Completion of the heddle command, for bash.
# Made by scripts/completion.py from the help of the command: change that, and run it again.

# The names of a kind, which depend on this machine and on plug-ins.
function _heddle_names
{
	case $2 in
	policies) "$1" policies --csv | sed '1d; s/,.*//' ;;
	platforms) "$1" platforms --csv | sed '1d; s/,.*//' ;;
	applications) "$1" run --help | sed -n 's/^  \([a-z]\w*\)  .*/\1/p' ;;
	experiments) "$1" repro --list --csv | sed '1d; s/,.*//' ;;
	codelets) "$1" models list --csv | sed '1d; s/,.*//' | sort -u ;;
	settings) "$1" config --csv | sed -n '1d; s/^\([a-z_]*\),.*/\1=/p' ;;
	esac 2>/dev/null
}

# Sets `options`, and `words`, what else may come: words, names of a kind (@policies), files (@files).
function _heddle_what # COMMAND OPTION
{
	case $1 in
	'machine')
		options='--measure --clusters= --cuda= --emulated= --emulated-bandwidth= --emulated-latency= --emulated-memory= --emulated-slowdown= --memory= --ncpu= --opencl= --streams= --set= --csv --json --help --usage'
		words=''
		case $2 in
		--clusters | --cuda | --emulated | --emulated-bandwidth | --emulated-latency | --emulated-memory | --emulated-slowdown | --memory | --ncpu | --opencl | --streams) options= words='' ;;
		--set) options= words='@settings' ;;
		esac ;;
	'policies')
		options='--csv --json --help --usage'
		words='@policies'
		case $2 in
		esac ;;
	'config')
		options='--set= --csv --json --help --usage'
		words=''
		case $2 in
		--set) options= words='@settings' ;;
		esac ;;
	'platforms')
		options='--clusters= --csv --json --help --usage'
		words='@platforms @files show calibrate'
		case $2 in
		--clusters) options= words='' ;;
		esac ;;
	'platforms show')
		options='-k --kernels= -o --output= -r --precision= -t --tiles= --clusters= --csv --json --help --usage'
		words='@platforms @files'
		case $2 in
		-k | --kernels | -t | --tiles | --clusters) options= words='' ;;
		-o | --output) options= words='@files' ;;
		-r | --precision) options= words='d s z c' ;;
		esac ;;
	'platforms calibrate')
		options='--keep -n --n= -o --output= --routines= --seconds= -t --tiles= --within= --cuda= --emulated= --emulated-bandwidth= --emulated-latency= --emulated-memory= --emulated-slowdown= --memory= --ncpu= --opencl= --streams= --set= --help --usage'
		words=''
		case $2 in
		-n | --n | --seconds | -t | --tiles | --within | --cuda | --emulated | --emulated-bandwidth | --emulated-latency | --emulated-memory | --emulated-slowdown | --memory | --ncpu | --opencl | --streams) options= words='' ;;
		-o | --output) options= words='@files @platforms' ;;
		--routines) options= words='all' ;;
		--set) options= words='@settings' ;;
		esac ;;
	'run')
		options='--balance= -b --tile= --cut= --degree= --digits= --distribution= --domain= --drop-q= --file= --inner= -k --k= --layout= --leaves= --m2l= --matrix= --models= -m --m= --no-priorities --nrhs= -n --n= --ordering= --p2p= --pairs= --particles= --periodic= --priorities= --refine= --relax= -r --precision= --strips= --subtree= --task-us= --tree= --uplo= --sched-options= --seed= -s --sched= --dag= --explain --gantt= --record= --trace= --clusters= --cuda= --emulated= --emulated-bandwidth= --emulated-latency= --emulated-memory= --emulated-slowdown= --memory= --ncpu= --opencl= --streams= --data= --no-check --no-trace --repeat= --set= --csv --json --help --usage'
		words='@applications'
		case $2 in
		--balance | -b | --tile | --cut | --degree | --digits | --domain | --file | --inner | -k | --k | --leaves | --matrix | -m | --m | --nrhs | -n | --n | --particles | --periodic | --refine | --relax | --strips | --subtree | --task-us | --sched-options | --seed | --clusters | --cuda | --emulated | --emulated-bandwidth | --emulated-latency | --emulated-memory | --emulated-slowdown | --memory | --ncpu | --opencl | --streams | --data | --repeat) options= words='' ;;
		--distribution) options= words='cube sphere plummer line file' ;;
		--drop-q) options= words='no yes' ;;
		--layout) options= words='tiled in-place' ;;
		--m2l) options= words='cpu gpu' ;;
		--models) options= words='work size' ;;
		--ordering) options= words='best metis colamd natural' ;;
		--p2p) options= words='cpu blocks full' ;;
		--pairs) options= words='one-sided mutual' ;;
		--priorities) options= words='path starpu none' ;;
		-r | --precision) options= words='d s z c' ;;
		--tree) options= words='flat greedy domains' ;;
		--uplo) options= words='lower upper' ;;
		-s | --sched) options= words='@policies' ;;
		--dag | --gantt | --record | --trace) options= words='@files' ;;
		--set) options= words='@settings' ;;
		esac ;;
	'sim')
		options='--balance= -b --tile= --cut= --degree= --digits= --distribution= --domain= --drop-q= --file= --inner= -k --k= --layout= --leaves= --m2l= --matrix= --models= -m --m= --no-priorities --nrhs= -n --n= --ordering= --p2p= --pairs= --particles= --periodic= --priorities= --refine= --relax= -r --precision= --strips= --subtree= --task-us= --tree= --uplo= --sched-options= --seed= -s --sched= --dag= --explain --gantt= --record= --trace= --clusters= --keep= --noise= -p --platform= --sort --speedup= --streams= --times= --set= --csv --json --help --usage'
		words='@applications @files random'
		case $2 in
		--balance | -b | --tile | --cut | --degree | --digits | --domain | --file | --inner | -k | --k | --leaves | --matrix | -m | --m | --nrhs | -n | --n | --particles | --periodic | --refine | --relax | --strips | --subtree | --task-us | --sched-options | --seed | --clusters | --keep | --noise | --speedup | --streams | --times) options= words='' ;;
		--distribution) options= words='cube sphere plummer line file' ;;
		--drop-q) options= words='no yes' ;;
		--layout) options= words='tiled in-place' ;;
		--m2l) options= words='cpu gpu' ;;
		--models) options= words='work size' ;;
		--ordering) options= words='best metis colamd natural' ;;
		--p2p) options= words='cpu blocks full' ;;
		--pairs) options= words='one-sided mutual' ;;
		--priorities) options= words='path starpu none' ;;
		-r | --precision) options= words='d s z c' ;;
		--tree) options= words='flat greedy domains' ;;
		--uplo) options= words='lower upper' ;;
		-s | --sched) options= words='@policies' ;;
		--dag | --gantt | --record | --trace) options= words='@files' ;;
		-p | --platform) options= words='@platforms @files' ;;
		--set) options= words='@settings' ;;
		esac ;;
	'graph')
		options='-o --output= -p --platform= --random= --csv --json --help --usage'
		words='@applications @files random'
		case $2 in
		-o | --output) options= words='@files' ;;
		-p | --platform) options= words='@platforms @files' ;;
		--random) options= words='' ;;
		esac ;;
	'bound')
		options='-p --platform= --rounds= --balance= -b --tile= --cut= --degree= --digits= --distribution= --domain= --drop-q= --file= --inner= -k --k= --layout= --leaves= --m2l= --matrix= --models= -m --m= --no-priorities --nrhs= -n --n= --ordering= --p2p= --pairs= --particles= --periodic= --priorities= --refine= --relax= -r --precision= --strips= --subtree= --task-us= --tree= --uplo= --clusters= --speedup= --times= --set= --csv --json --help --usage'
		words='@applications @files random'
		case $2 in
		-p | --platform) options= words='@platforms @files' ;;
		--rounds | --balance | -b | --tile | --cut | --degree | --digits | --domain | --file | --inner | -k | --k | --leaves | --matrix | -m | --m | --nrhs | -n | --n | --particles | --periodic | --refine | --relax | --strips | --subtree | --task-us | --clusters | --speedup | --times) options= words='' ;;
		--distribution) options= words='cube sphere plummer line file' ;;
		--drop-q) options= words='no yes' ;;
		--layout) options= words='tiled in-place' ;;
		--m2l) options= words='cpu gpu' ;;
		--models) options= words='work size' ;;
		--ordering) options= words='best metis colamd natural' ;;
		--p2p) options= words='cpu blocks full' ;;
		--pairs) options= words='one-sided mutual' ;;
		--priorities) options= words='path starpu none' ;;
		-r | --precision) options= words='d s z c' ;;
		--tree) options= words='flat greedy domains' ;;
		--uplo) options= words='lower upper' ;;
		--set) options= words='@settings' ;;
		esac ;;
	'compare')
		options='-g --graphs= -j --jobs= --noise= -o --output= -p --platforms= --seed= --seeds= --sort -s --scheds= --clusters= --speedup= --times= --set= --csv --json --help --usage'
		words='@applications @files'
		case $2 in
		-g | --graphs) options= words='@applications @files' ;;
		-j | --jobs | --noise | --seed | --seeds | --clusters | --speedup | --times) options= words='' ;;
		-o | --output) options= words='@files' ;;
		-p | --platforms) options= words='@platforms' ;;
		-s | --scheds) options= words='@policies all' ;;
		--set) options= words='@settings' ;;
		esac ;;
	'suite')
		options='--best= --bounds --explain -j --jobs= --noise= --only= -o --output= --seed= --seeds= -s --scheds= --set= --csv --json --help --usage'
		words=''
		case $2 in
		--best | -o | --output) options= words='@files' ;;
		-j | --jobs | --noise | --only | --seed | --seeds) options= words='' ;;
		-s | --scheds) options= words='@policies all' ;;
		--set) options= words='@settings' ;;
		esac ;;
	'sparse')
		options='--fronts= -o --output= -r --ordering= --subtree= --workers= --csv --json --help --usage'
		words='info'
		case $2 in
		--fronts | --subtree | --workers) options= words='' ;;
		-o | --output) options= words='@files' ;;
		-r | --ordering) options= words='@platforms' ;;
		esac ;;
	'tune')
		options='--exhaustive --here -j --jobs= -p --platform= --scheds= --balance= -b --tile= --cut= --degree= --digits= --distribution= --domain= --drop-q= --file= --inner= -k --k= --layout= --leaves= --m2l= --matrix= --models= -m --m= --no-priorities --nrhs= -n --n= --ordering= --p2p= --pairs= --particles= --periodic= --priorities= --refine= --relax= -r --precision= --strips= --subtree= --task-us= --tree= --uplo= --clusters= --set= --csv --json --help --usage'
		words='@applications'
		case $2 in
		-j | --jobs | --balance | -b | --tile | --cut | --degree | --digits | --domain | --file | --inner | -k | --k | --leaves | --matrix | -m | --m | --nrhs | -n | --n | --particles | --periodic | --refine | --relax | --strips | --subtree | --task-us | --clusters) options= words='' ;;
		-p | --platform) options= words='@platforms @files' ;;
		--scheds) options= words='@policies all' ;;
		--distribution) options= words='cube sphere plummer line file' ;;
		--drop-q) options= words='no yes' ;;
		--layout) options= words='tiled in-place' ;;
		--m2l) options= words='cpu gpu' ;;
		--models) options= words='work size' ;;
		--ordering) options= words='best metis colamd natural' ;;
		--p2p) options= words='cpu blocks full' ;;
		--pairs) options= words='one-sided mutual' ;;
		--priorities) options= words='path starpu none' ;;
		-r | --precision) options= words='d s z c' ;;
		--tree) options= words='flat greedy domains' ;;
		--uplo) options= words='lower upper' ;;
		--set) options= words='@settings' ;;
		esac ;;
	'models')
		options='--all --dir= -o --output= --csv --json --help --usage'
		words='list show @codelets plot purge'
		case $2 in
		--dir | -o | --output) options= words='@files' ;;
		esac ;;
	'trace')
		options='--height= --no-critical-path --no-transfers -o --output= --title= --width= --dag --levels= --no-layouts --csv --json --help --usage'
		words='@files'
		case $2 in
		--height | --title | --width | --levels) options= words='' ;;
		-o | --output) options= words='@files' ;;
		esac ;;
	'lab')
		options='--local -n --tasks= --quick --rounds= --seeds= --sets= -s --seed= -t --threads= --explain -o --output= --csv --json --help --usage'
		words=''
		case $2 in
		-n | --tasks | --rounds | --seeds | --sets | -s | --seed | -t | --threads) options= words='' ;;
		-o | --output) options= words='@files' ;;
		esac ;;
	'repro')
		options='--list -o --output= --quick -s --seed= --csv --json --help --usage'
		words='@experiments all'
		case $2 in
		-o | --output) options= words='@files' ;;
		-s | --seed) options= words='' ;;
		esac ;;
	'demo')
		options='-b --tile= -n --n= -o --output= -p --platform= --help --usage'
		words=''
		case $2 in
		-b | --tile | -n | --n) options= words='' ;;
		-o | --output) options= words='@files' ;;
		-p | --platform) options= words='@platforms @files' ;;
		esac ;;
	help) words='machine policies config platforms run sim graph bound compare suite sparse tune models trace lab repro demo help version' ;;
	'') options='--help --version' words='machine policies config platforms run sim graph bound compare suite sparse tune models trace lab repro demo help version' ;;
	esac
}

function _heddle
{
	local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= options= words= word i
	# bash takes the = of --option=value for a word
	[[ $current == = ]] && current=
	[[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD - 2]}
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $word == --plugin ]]; then
			((++i))
			[[ ${COMP_WORDS[i]} == = ]] && ((++i))
		elif [[ $word != -* && -z $command ]]; then
			[[ $word == platform ]] && word=platforms
			command=$word
		elif [[ $command == platforms && $word == @(show|calibrate) ]]; then
			command+=" $word"
		fi
	done
	_heddle_what "$command" "$before"
	options+=${options:+ --plugin=}
	[[ $before == --plugin ]] && options= words=@files
	COMPREPLY=()
	local list= # what stands before the last comma of a list
	if [[ $current == -* ]]; then
		words=$options
	elif [[ $current == *,* ]]; then
		list=${current%,*},
	fi
	for word in $words; do
		case $word in
		@files)
			compopt -o filenames 2>/dev/null
			word=$(compgen -f -- "$current") ;;
		@*) word=$(compgen -P "$list" -W "$(_heddle_names "$1" "${word#@}")" -- "${current##*,}") ;;
		*) word=$(compgen -P "$list" -W "$word" -- "${current##*,}") ;;
		esac
		[[ $word ]] && mapfile -t -O ${#COMPREPLY[@]} COMPREPLY <<<"$word"
	done
	[[ ${#COMPREPLY[@]} == 1 && $COMPREPLY == *= ]] && compopt -o nospace 2>/dev/null
	return 0
}

complete -F _heddle heddle
